"""The log of one attempt, line by line: its limits, its batches, and what an outage leaves of it."""

import logging
from collections.abc import Sequence

import pytest

from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.models import LogEntry
from netautod.automation.executions.running.log_writer import FLUSH_LINES, MAX_LINE, LogLimits, LogWriter
from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.work.guard import LeaseLostError
from netautod.store.client import Database

ORG = OrgId("one")
RUN = "run-1"
WIDE = LogLimits(lines=10_000, bytes=1024 * 1024)
MARKER = "the log is full; further lines are dropped"


class Lines(ExecutionLogStore):
    """The collection of the service, which can be away; counts what it is asked to write."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.away = False
        self.batches: list[int] = []

    async def append(self, org_id: OrgId, execution_id: str, entries: Sequence[LogEntry]) -> None:
        if self.away:
            raise Unavailable("the database is away")
        self.batches.append(len(entries))
        await super().append(org_id, execution_id, entries)

    async def texts(self) -> list[str]:
        return [entry.message for entry in await self.read(ORG, RUN, 0, 1000)]


class Lease:
    """The lease that the writer checks before each write."""

    lost = False

    async def known(self) -> None:
        if self.lost:
            raise LeaseLostError("another node has it")


@pytest.fixture
def lines(indexed: Database) -> Lines:
    return Lines(indexed)


def writer(lines: Lines, limits: LogLimits = WIDE, lease: Lease | None = None) -> LogWriter:
    return LogWriter(
        store=lines,
        clock=SystemClock(),
        org_id=ORG,
        execution_id=RUN,
        limits=limits,
        known=(lease or Lease()).known,
    )


async def attempt(lines: Lines, limits: LogLimits, *texts: str, first: bool = True) -> None:
    """Run an attempt that writes these texts and ends."""
    log = writer(lines, limits)
    await log.open(first=first)
    for text in texts:
        await log.write("info", text, "device-1")
    await log.flush()
    await log.close()


@pytest.mark.parametrize(
    ("limits", "written", "kept"),
    [
        pytest.param(LogLimits(lines=2, bytes=99), "a b", "a b", id="as many lines as there may be"),
        pytest.param(
            LogLimits(lines=2, bytes=99), "a b c d", f"a b {MARKER}", id="one line more, and another"
        ),
        pytest.param(LogLimits(lines=9, bytes=4), "aa bb", "aa bb", id="as many bytes as there may be"),
        pytest.param(LogLimits(lines=9, bytes=4), "aa bbb c", f"aa {MARKER}", id="a byte more"),
        pytest.param(
            LogLimits(lines=9, bytes=4), "aa éé c", f"aa {MARKER}", id="a character of two bytes is two"
        ),
    ],
)
async def test_a_log_takes_what_fits_and_then_says_once_that_it_is_full(
    lines: Lines, limits: LogLimits, written: str, kept: str
) -> None:
    words = written.split()
    await attempt(lines, limits, *words)
    stored = await lines.read(ORG, RUN, 0, 100)
    assert " ".join(entry.message for entry in stored) == kept
    assert [entry.seq for entry in stored] == list(range(1, len(stored) + 1))
    for entry in stored:
        marker = entry.message == MARKER
        assert (entry.level, entry.device_id) == (("warning", None) if marker else ("info", "device-1"))


@pytest.mark.parametrize(
    ("limits", "before", "after", "all_of_it"),
    [
        pytest.param(WIDE, "a b", "c", "a b c", id="its numbers go on"),
        pytest.param(LogLimits(lines=2, bytes=99), "a b", "c d", f"a b {MARKER}", id="it is full now"),
        pytest.param(LogLimits(lines=2, bytes=99), "a b c", "d", f"a b {MARKER}", id="it was full before"),
        pytest.param(LogLimits(lines=9, bytes=2), "a b", "c d", f"a b {MARKER}", id="its bytes are full now"),
        pytest.param(LogLimits(lines=9, bytes=2), "a b c", "d", f"a b {MARKER}", id="its bytes were before"),
    ],
)
async def test_a_later_attempt_goes_on_where_the_earlier_one_ended(
    lines: Lines, limits: LogLimits, before: str, after: str, all_of_it: str
) -> None:
    await attempt(lines, limits, *before.split())
    await attempt(lines, limits, *after.split(), first=False)
    assert " ".join(await lines.texts()) == all_of_it


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        pytest.param("a\x00b", "a\ufffdb", id="NUL"),
        pytest.param("a\udcffb", "a?b", id="half of a character"),
        pytest.param("x" * (MAX_LINE + 1), "x" * MAX_LINE, id="a byte too many"),
        pytest.param("x" * (MAX_LINE - 1) + "é", "x" * (MAX_LINE - 1), id="cut within a character"),
        pytest.param("x" * (MAX_LINE - 2) + "é", "x" * (MAX_LINE - 2) + "é", id="just long enough"),
        pytest.param("", "", id="nothing"),
    ],
)
async def test_a_line_is_made_storable(lines: Lines, written: str, kept: str) -> None:
    await attempt(lines, WIDE, written)
    assert await lines.texts() == [kept]


@pytest.mark.parametrize("level", ["fatal", "INFO", ""])
async def test_a_level_that_there_is_not_is_refused(lines: Lines, level: str) -> None:
    log = writer(lines)
    with pytest.raises(ValueError, match="one of debug, info, warning, error"):
        await log.write(level, "text")


async def test_lines_are_written_together_and_at_once_when_they_are_many(lines: Lines) -> None:
    log = writer(lines)  # which is not opened: nothing flushes it by the clock
    for number in range(FLUSH_LINES - 1):
        await log.write("debug", str(number))
    assert lines.batches == []
    await log.write("debug", "last")
    assert lines.batches == [FLUSH_LINES]
    await log.flush()
    assert lines.batches == [FLUSH_LINES]  # nothing is left


async def test_lines_of_an_outage_wait_and_arrive_in_their_order(
    lines: Lines, caplog: pytest.LogCaptureFixture
) -> None:
    log = writer(lines)
    await log.write("info", "before")
    lines.away = True
    with pytest.raises(Unavailable):
        await log.flush()
    with caplog.at_level(logging.WARNING):
        for number in range(FLUSH_LINES):
            await log.write("info", str(number))
    assert f"log lines of {RUN} wait: the database is away" in caplog.text
    lines.away = False
    await log.flush()
    assert await lines.texts() == ["before", *map(str, range(FLUSH_LINES))]


async def test_lines_of_a_lost_lease_are_kept_until_their_owner_is_known(lines: Lines) -> None:
    lease = Lease()
    log = writer(lines, lease=lease)
    await log.write("info", "mine")
    lease.lost = True
    with pytest.raises(LeaseLostError):
        await log.flush()
    for number in range(FLUSH_LINES):
        await log.write("info", str(number))  # which flushes: the executor that logs is not told
    await log.close()
    await log.write("info", "too late")
    assert await lines.texts() == []
    await log.flush_rest()
    await log.flush_rest()
    assert await lines.texts() == ["mine", *map(str, range(FLUSH_LINES))]
