"""The rate limiter, and the client address behind proxies."""

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from netautod.core.clock import SystemClock
from netautod.core.errors import TooManyRequests
from netautod.core.identity import Caller, RequestInfo
from netautod.http.bodies.reader import BodyReader
from netautod.http.context import HttpContext, networks
from netautod.http.limits import RateLimiter, RequestLimits
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


async def _nobody(token: str, info: RequestInfo) -> Caller:
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
        authenticate=_nobody,
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
