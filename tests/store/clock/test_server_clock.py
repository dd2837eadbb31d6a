"""What a node notices of the database's clock and of its own."""

import logging
import re
from datetime import UTC, datetime, timedelta

import pytest

from netautod.core.metrics import Metrics
from netautod.store.client import Database
from tests.support.clock import SetClocks

MACHINE, DATABASE = "this machine's clock", "the database server's clock"


def whole_seconds(text: str) -> str:
    return re.sub(r"\d+\.\d", lambda found: str(round(float(found[0]))), text)


def jumps(metrics: Metrics) -> dict[tuple[str, str], int]:
    found = {
        (clock, to): metrics.value("clock_jumps", clock, to)
        for clock in ("database", "node")
        for to in ("back", "forward")
    }
    return {labels: count for labels, count in found.items() if count}


@pytest.mark.parametrize(
    ("database_by", "machine_by", "counted", "logged"),
    [
        pytest.param(
            -600, 0, {("database", "back"): 1},
            [f"{MACHINE} is +600 s from", f"{DATABASE} was set back by 600 s"],
            id="the database's, back",
        ),
        pytest.param(
            600, 0, {("database", "forward"): 1},
            [f"{MACHINE} is -600 s from", f"{DATABASE} was set forward by 600 s"],
            id="the database's, forward",
        ),
        pytest.param(
            0, -600, {("node", "back"): 1},
            [f"{MACHINE} was set back by 600 s", f"{MACHINE} is -600 s from"],
            id="the node's, back",
        ),
        pytest.param(
            0, 600, {("node", "forward"): 1},
            [f"{MACHINE} was set forward by 600 s", f"{MACHINE} is +600 s from"],
            id="the node's, forward",
        ),
        pytest.param(
            -600, -600, {("database", "back"): 1, ("node", "back"): 1},
            [f"{MACHINE} was set back by 600 s", f"{DATABASE} was set back by 600 s"],
            id="both: of one machine",
        ),
        pytest.param(-1, -1, {}, [], id="corrected by a second"),
        pytest.param(0, 4, {}, [f"{MACHINE} is +4 s from"], id="off by four seconds: no jump"),
    ],
)  # fmt: skip
async def test_a_jump_is_logged_and_counted_once(
    database: Database,
    caplog: pytest.LogCaptureFixture,
    database_by: float,
    machine_by: float,
    counted: dict[tuple[str, str], int],
    logged: list[str],
) -> None:
    clocks, metrics = SetClocks(), Metrics()
    clock = clocks.of(database, metrics)
    await clock.refresh()
    clocks.database, clocks.machine = database_by, machine_by
    with caplog.at_level(logging.WARNING):
        await clock.refresh()
        await clock.refresh()
    assert jumps(metrics) == counted
    said = [record.message for record in caplog.records]
    assert len(said) == len(logged)
    for text, part in zip(said, logged, strict=True):
        assert whole_seconds(text).startswith(part)


async def test_a_machine_whose_clock_differs_is_warned_of_once_and_when_it_agrees_again(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    clocks = SetClocks()
    clocks.machine = 3
    clock = clocks.of(database)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            await clock.refresh()
        clocks.machine = 0
        for _ in range(3):
            await clock.refresh()
    said = [record.message for record in caplog.records if "this machine's clock" in record.message]
    assert len(said) == 2
    assert "+3.0 s from the database server's" in said[0]
    assert "agrees" in said[1]


async def test_the_time_of_a_node_follows_the_database_whatever_its_own_clock_shows(
    database: Database,
) -> None:
    clocks = SetClocks()
    clocks.machine = -3600
    clock = clocks.of(database)
    await clock.refresh()
    assert abs((clock.now() - datetime.now(UTC)).total_seconds()) < 5


async def test_for_a_while_after_a_jump_leases_are_not_trusted(database: Database) -> None:
    clocks = SetClocks()
    clock = clocks.of(database)
    await clock.refresh()
    assert not clock.jumped_within(3600)
    clocks.database = 60
    await clock.refresh()
    assert clock.jumped_within(3600)
    assert not clock.jumped_within(0)


async def test_an_answer_that_comes_late_is_no_jump(database: Database) -> None:
    """Two looks have begun when the clock is set; the first one, answered before, is read last."""
    metrics = Metrics()
    clock = SetClocks().of(database, metrics)
    await clock.refresh()
    shown, first, second = clock.now(), clock.begin_look(), clock.begin_look()
    clock.observe(shown - timedelta(seconds=600), second)
    assert clock.observe(shown, first) == timedelta(0)
    assert jumps(metrics) == {("database", "back"): 1}
    assert clock.times_set_back == 1
    assert clock.now() < shown - timedelta(seconds=500)
