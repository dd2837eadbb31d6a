"""Lines that come again and again: the first as it is, a count once a minute, and a word when it is over."""

import io
import logging
from collections.abc import Callable, Iterator

import pytest

from netautod.core.logs import setup as logs
from netautod.core.logs.folding import MOST, SECONDS, Failing, FoldingHandler, repeats
from netautod.core.logs.lines import Belonging, current, event

Say = Callable[[], None]
OURS = logging.getLogger("netautod.test_repeats")
THEIRS = logging.getLogger("asyncio.test_repeats")


class Log:
    """A log of its own with a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._stream = io.StringIO()
        self.handler = FoldingHandler(self._stream, clock=lambda: self.now)
        self.handler.addFilter(logs._BelongingFilter())
        self.handler.setFormatter(logging.Formatter("%(message)s"))

    @property
    def lines(self) -> list[str]:
        return self._stream.getvalue().splitlines()

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.handler.report_counts()


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    for one in (OURS, THEIRS):
        one.addHandler(made.handler)
        one.setLevel(logging.DEBUG)
        one.propagate = False
    yield made
    for one in (OURS, THEIRS):
        one.removeHandler(made.handler)
        one.propagate = True


def raising() -> None:
    try:
        raise OSError(f"broken at {id(object()):#x}")
    except OSError:
        THEIRS.exception("future: <Task finished name='Task-%d'>", id(object()))


@pytest.mark.parametrize(
    "say",
    [
        pytest.param(lambda: OURS.warning("the database is away"), id="a loop of ours without its database"),
        pytest.param(lambda: OURS.info("no such route", extra=repeats("x")), id="an info line with a key"),
        pytest.param(lambda: THEIRS.warning("socket.send() raised exception."), id="asyncio's broken pipe"),
        pytest.param(raising, id="asyncio's exception that nobody retrieved, each of another task"),
    ],
)
def test_what_repeats_itself_is_said_once_and_counted_each_minute(log: Log, say: Say) -> None:
    say()
    first = len(log.lines)
    for _ in range(500):
        say()
    assert len(log.lines) == first
    log.later(SECONDS)
    assert [line.endswith("(500 more times)") for line in log.lines[first:]] == [True]
    say()
    log.later(SECONDS)
    assert log.lines[-1].endswith("(1 more time)")
    log.later(SECONDS)
    assert len(log.lines) == first + 2


def test_after_a_quiet_minute_it_is_news_again(log: Log) -> None:
    OURS.warning("away")
    log.later(SECONDS)
    OURS.warning("away")
    assert log.lines == ["away", "away"]


def test_lines_of_one_failure_may_say_different_things(log: Log) -> None:
    for number in range(40):
        OURS.warning("run %d cannot be written", number, extra=repeats("end"))
    log.later(SECONDS)
    assert log.lines == ["run 0 cannot be written", "run 0 cannot be written (39 more times)"]


@pytest.mark.parametrize(
    "say",
    [
        pytest.param(lambda n: OURS.warning("task %d is disabled", n), id="other texts of ours"),
        pytest.param(lambda n: OURS.info("stopping"), id="information"),
        pytest.param(lambda n: OURS.warning("x", extra=repeats(n)), id="other keys"),
        pytest.param(lambda n: OURS.warning("x", extra=event("device_failure", {})), id="events"),
    ],
)
def test_what_is_something_else_is_said(log: Log, say: Callable[[int], None]) -> None:
    for number in range(5):
        say(number)
    assert len(log.lines) == 5


def test_a_failed_request_can_be_found_by_its_id(log: Log) -> None:
    for request in ("a", "b"):
        token = current.set(Belonging(request=request))
        OURS.error("GET /api/x failed")
        current.reset(token)
    assert len(log.lines) == 2


def test_keys_of_clients_do_not_fill_the_memory(log: Log) -> None:
    OURS.info("first", extra=repeats("first"))
    OURS.info("first", extra=repeats("first"))
    for number in range(MOST + 10):
        OURS.info("other", extra=repeats(number))
    assert "first (1 more time)" in log.lines
    assert len(log.handler._folded) == MOST


def test_the_count_is_told_at_the_end(log: Log) -> None:
    OURS.warning("away")
    OURS.warning("away")
    log.handler.close()
    assert log.lines[-1] == "away (1 more time)"


def test_a_loop_says_when_it_fails_and_when_it_works_again(log: Log) -> None:
    scan = Failing(OURS, "the scan failed", clock=lambda: log.now)
    scan.over()
    for _ in range(3):
        scan.failed("no answer")
        log.now += 7
    scan.over()
    scan.over()
    assert log.lines == [
        "the scan failed: no answer",
        "the scan failed: it works again (failed 3 times in 21 s)",
    ]


def test_a_loop_that_fails_every_other_time_does_not_fill_the_log(log: Log) -> None:
    scan = Failing(OURS, "the scan failed", clock=lambda: log.now)
    for _ in range(200):
        scan.failed("no answer")
        scan.over()
    log.later(SECONDS)
    assert [line.rpartition("(")[2] for line in log.lines[2:]] == ["199 more times)", "199 more times)"]
