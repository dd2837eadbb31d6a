"""The rate limiter, and the client address behind proxies."""

from collections.abc import Callable

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from netautod.core.clock import SystemClock
from netautod.core.errors import TooManyRequests
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.http.bodies.reader import BodyReader
from netautod.http.context import HttpContext, networks
from netautod.http.limits import Rate, RateLimiter, RequestLimits
from tests.support.clock import MovableClock


def test_the_bucket_empties_and_fills_again() -> None:
    clock = MovableClock()
    limiter = RateLimiter(clock=clock, rate=2, burst=3)
    for _ in range(3):
        limiter.take("a")
    with pytest.raises(TooManyRequests) as refused:
        limiter.take("a")
    assert refused.value.retry_after == 1
    limiter.take("b")
    clock.move(0.5)
    limiter.take("a")
    with pytest.raises(TooManyRequests):
        limiter.take("a")


def test_a_rate_of_zero_turns_the_limit_off() -> None:
    limiter = RateLimiter(clock=SystemClock(), rate=0, burst=1)
    for _ in range(1000):
        limiter.take("a")


def test_a_sweep_of_addresses_gives_a_busy_one_no_new_bucket() -> None:
    limiter = RateLimiter(clock=MovableClock(), rate=1, burst=5, remembered=20)
    for _ in range(5):
        limiter.take("busy")
    for number in range(500):
        limiter.take(f"passing {number}")
    assert len(limiter) <= 20
    with pytest.raises(TooManyRequests):
        limiter.take("busy")


def test_full_buckets_are_forgotten() -> None:
    clock = MovableClock()
    limiter = RateLimiter(clock=clock, rate=10, burst=5)
    for number in range(100):
        limiter.take(str(number))
    clock.move(1)
    limiter.take("another")
    assert len(limiter) == 1


def limits_of(clock: MovableClock) -> RequestLimits:
    return RequestLimits(
        clock=clock, callers=Rate(per_second=1, burst=10), anonymous=Rate(per_second=1, burst=3)
    )


def refused(take: Callable[[], None]) -> bool:
    try:
        take()
    except TooManyRequests:
        return True
    return False


def test_addresses_of_one_client_share_their_bucket() -> None:
    limits = limits_of(MovableClock())
    for address in ("2001:db8::1", "2001:db8::2", "2001:db8::ffff:1"):
        limits.anonymous(address)
    assert refused(lambda: limits.anonymous("2001:db8::3"))
    assert not refused(lambda: limits.anonymous("2001:db8:0:1::3"))


def test_a_flood_without_tokens_leaves_room_for_a_token() -> None:
    limits = limits_of(MovableClock())
    while not refused(lambda: limits.anonymous("192.0.2.1")):
        pass
    limits.before_token("good", "192.0.2.1")
    limits.accepted("good", "192.0.2.1", "alice")


def test_a_flood_of_refused_tokens_leaves_room_for_a_known_one() -> None:
    limits = limits_of(MovableClock())
    limits.before_token("good", "192.0.2.1")
    limits.accepted("good", "192.0.2.1", "alice")
    for number in range(3):
        limits.before_token(f"bad {number}", "192.0.2.1")
        limits.refused(f"bad {number}", "192.0.2.1")
    assert refused(lambda: limits.before_token("bad", "192.0.2.1"))
    limits.before_token("good", "192.0.2.1")
    limits.accepted("good", "192.0.2.1", "alice")


def test_valid_tokens_count_for_their_caller_alone() -> None:
    limits = limits_of(MovableClock())

    def ask() -> None:
        limits.before_token("good", "192.0.2.1")
        limits.accepted("good", "192.0.2.1", "alice")

    assert [refused(ask) for _ in range(11)] == [False] * 10 + [True]
    assert not refused(lambda: limits.anonymous("192.0.2.1"))


async def refuse_token(token: str, info: RequestInfo) -> Caller:
    raise AssertionError


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        pytest.param("192.0.2.9", "203.0.113.5", "192.0.2.9", id="an untrusted peer may say what it wants"),
        pytest.param("10.0.0.1", "203.0.113.5", "203.0.113.5", id="a trusted proxy is believed"),
        pytest.param("10.0.0.1", "6.6.6.6, 203.0.113.5, 10.0.0.2", "203.0.113.5", id="from the right"),
        pytest.param("10.0.0.1", "", "10.0.0.1", id="no header"),
        pytest.param("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3", id="all trusted: the leftmost"),
        pytest.param("10.0.0.1", "203.0.113.5:4711", "203.0.113.5", id="with a port"),
        pytest.param("10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1", id="IPv6 with a port"),
        pytest.param("10.0.0.1", "evil<script>", "unknown", id="nonsense"),
    ],
)
def test_the_client_address(peer: str, forwarded: str, expected: str) -> None:
    context = HttpContext(
        authenticate=refuse_token,
        limits=RequestLimits.none(SystemClock()),
        bodies=BodyReader(),
        trusted_proxies=networks(["10.0.0.0/8"]),
        cors_origins=frozenset(),
    )
    headers = HTTPHeaders({"Host": "x", "X-Real-Ip": "6.6.6.6"})
    if forwarded:
        headers["X-Forwarded-For"] = forwarded
    start = RequestStartLine("GET", "/", "HTTP/1.1")
    request = HTTPServerRequest(start_line=start, headers=headers)
    request.remote_ip = peer
    assert context.client_address(request) == expected
