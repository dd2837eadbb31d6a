"""The pauses between tries, and the example of the manual by which a receiver verifies."""

import hashlib
import hmac
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import cast

import pytest

from netautod.transport.outbound.retries import asked_pause, retry_pause
from netautod.transport.outbound.signed import signature
from netautod_webhook.retries import LONGEST, is_retried
from tests.support.manual import page

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECRET, BODY = "0123456789abcdef", b'{"id":"1"}'
RECEIVER = re.compile(r"^```python\n# receiver\.py\n(?P<text>.*?)^```$", re.M | re.S)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param(None, 0, id="none"),
        pytest.param("7", 7, id="seconds"),
        pytest.param(" 7 ", 7, id="blanks around them"),
        pytest.param("86400", LONGEST, id="a day"),
        pytest.param("-7", 0, id="a negative number"),
        pytest.param("soon", 0, id="a word"),
        pytest.param("", 0, id="nothing in it"),
        pytest.param("\u0667", 0, id="digits of another script"),
        pytest.param("9" * 5000, LONGEST, id="thousands of digits"),
        pytest.param("Sat, 21 Nov 2026 12:00:30 GMT", 30, id="a date"),
        pytest.param("Sat, 21 Nov 2026 11:00:30 GMT", 0, id="a past date"),
        pytest.param("Sat, 21 Nov 2026 12:00:30 -0000", 30, id="a date without a zone"),
        pytest.param("Sun, 22 Nov 2026 12:00:00 GMT", LONGEST, id="tomorrow"),
        pytest.param("Sat, 99 Nov 2026 12:00:30 GMT", 0, id="a date that does not exist"),
    ],
)
def test_retry_after(text: str | None, seconds: float) -> None:
    assert asked_pause({} if text is None else {"Retry-After": text}, NOON, longest=LONGEST) == seconds


def test_the_pauses_double_up_to_the_longest() -> None:
    def pauses(chance: float) -> list[float]:
        return [retry_pause(tried, 1.0, longest=LONGEST, chance=chance) for tried in (1, 2, 3, 4)]

    assert pauses(1.0) == [1, 2, 4, 8]
    assert pauses(0.0) == [0.5, 1, 2, 4]
    assert retry_pause(20, 300.0, longest=LONGEST, chance=1.0) == LONGEST
    # A receiver that is down for a day at a pause of milliseconds.
    assert retry_pause(100_000, 0.01, longest=LONGEST, chance=1.0) == LONGEST


@pytest.mark.parametrize(("status", "retried"), [(301, False), (404, False), (429, True), (503, True)])
def test_which_answers_are_tried_again(status: int, retried: bool) -> None:
    assert is_retried(status) is retried


def test_the_signature_is_a_plain_hmac() -> None:
    expected = hmac.new(SECRET.encode(), b"1700000000." + BODY, hashlib.sha256).hexdigest()
    assert signature(SECRET, "1700000000", BODY) == expected


@pytest.fixture
def verify() -> Callable[..., bool]:
    """Return the function that the page shows."""
    found = RECEIVER.search(page("use/signed-webhook.md"))
    assert found is not None
    names: dict[str, object] = {}
    exec(found["text"], names)
    return cast("Callable[..., bool]", names["is_genuine"])


GOOD = {
    "X-Netautod-Timestamp": "1700000000",
    "X-Netautod-Signature": f"sha256={signature(SECRET, '1700000000', BODY)}",
}


@pytest.mark.parametrize(
    ("changes", "body", "now", "genuine"),
    [
        pytest.param({}, BODY, 1700000000, True, id="as it was sent"),
        pytest.param({}, BODY, 1700000299, True, id="five minutes on the way"),
        pytest.param({}, BODY, 1699999701, True, id="by a clock that is slow"),
        pytest.param({}, BODY, 1700000301, False, id="played again later"),
        pytest.param({}, BODY + b" ", 1700000000, False, id="another body"),
        pytest.param({"X-Netautod-Timestamp": "1700000001"}, BODY, 1700000000, False, id="another time"),
        pytest.param({"X-Netautod-Timestamp": "soon"}, BODY, 1700000000, False, id="a time that is none"),
        pytest.param({"X-Netautod-Timestamp": "1" * 9999}, BODY, 1700000000, False, id="an endless time"),
        pytest.param({"X-Netautod-Signature": "sha256="}, BODY, 1700000000, False, id="no signature"),
        pytest.param({"X-Netautod-Signature": "é"}, BODY, 1700000000, False, id="no text in ASCII"),
    ],
)
def test_the_example_of_the_manual_verifies(
    verify: Callable[..., bool], changes: dict[str, str], body: bytes, now: float, genuine: bool
) -> None:
    assert verify({**GOOD, **changes}, body, SECRET, now=now) is genuine


def test_missing_headers_are_not_genuine(verify: Callable[..., bool]) -> None:
    assert verify({}, BODY, SECRET, now=1700000000) is False
