"""The number of times that the database's clock was set back: raised by one of all nodes."""

import asyncio
from datetime import timedelta

import pytest

from netautod.store.client import Database
from netautod.store.clock.steps import COLLECTION, ClockSteps
from tests.support.clock import SetClocks


def node(database: Database, clocks: SetClocks) -> ClockSteps:
    return ClockSteps(database, clocks.of(database))


async def _number(database: Database) -> int:
    row = await database.collection(COLLECTION).find_one({})
    assert row is not None
    return int(row["number"])


async def test_it_begins_with_0_and_stays_so_while_the_clock_goes_on(database: Database) -> None:
    steps = node(database, SetClocks())
    assert await steps.number() == 0
    for _ in range(3):
        step = await steps.look()
        assert (step.number, step.aligned) == (0, True)


async def test_two_first_nodes_make_one_row(database: Database) -> None:
    await asyncio.gather(*(node(database, SetClocks()).look() for _ in range(8)))
    assert await database.collection(COLLECTION).count({}) == 1


@pytest.mark.parametrize(
    ("seconds", "number"),
    [
        pytest.param(-600, 1, id="back by ten minutes"),
        pytest.param(-6, 1, id="back by six seconds"),
        pytest.param(-4, 0, id="back by four seconds, or a new primary so near"),
        pytest.param(600, 0, id="forward"),
    ],
)
async def test_a_clock_that_was_set_back_raises_it(database: Database, seconds: float, number: int) -> None:
    clocks = SetClocks()
    steps = node(database, clocks)
    await steps.look()
    clocks.database = seconds
    step = await steps.look()
    assert (step.number, step.aligned) == (number, number == 0)
    assert (await steps.look()).number == number


async def test_all_nodes_that_see_it_raise_it_once(database: Database) -> None:
    clocks = SetClocks()
    nodes = [node(database, clocks) for _ in range(8)]
    await asyncio.gather(*(one.look() for one in nodes))
    clocks.database = -600
    seen = await asyncio.gather(*(one.look() for one in nodes))
    assert {step.number for step in seen} == {1}
    assert await _number(database) == 1


async def test_a_node_that_sees_it_late_raises_nothing_more(database: Database) -> None:
    clocks, late_clocks = SetClocks(), SetClocks()
    steps, late = node(database, clocks), node(database, late_clocks)
    await steps.look()
    await late.look()
    clocks.database = late_clocks.database = -600
    await steps.look()
    assert (await late.look()).number == 1


async def test_a_jump_that_another_look_at_the_clock_has_found_counts_as_well(database: Database) -> None:
    clocks = SetClocks()
    clock = clocks.of(database)
    steps = ClockSteps(database, clock)
    await steps.look()
    clocks.database = -600
    await clock.refresh()
    assert (await steps.look()).number == 1


async def test_a_clock_that_was_set_back_while_no_node_ran_is_noticed_later(
    database: Database,
) -> None:
    await node(database, SetClocks()).look()
    rows = database.collection(COLLECTION)
    later = await database.now() + timedelta(minutes=10)
    await rows.update({}, {"$set": {"latest": later}})
    seen = await asyncio.gather(*(node(database, SetClocks()).look() for _ in range(4)))
    assert {step.number for step in seen} == {1}
    assert (await node(database, SetClocks()).look()).number == 1


async def test_the_latest_time_is_kept_for_that(database: Database) -> None:
    steps, rows = node(database, SetClocks()), database.collection(COLLECTION)
    await steps.look()
    old = await database.now() - timedelta(minutes=1)
    await rows.update({}, {"$set": {"latest": old}})
    await steps.look()
    row = await rows.find_one({})
    assert row is not None
    assert row["latest"] > old + timedelta(seconds=30)


async def test_a_raise_that_failed_is_tried_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = SetClocks()
    steps = node(database, clocks)
    await steps.look()
    clocks.database = -600

    async def fail(number: int) -> None:
        raise ConnectionError

    with monkeypatch.context() as patched:
        patched.setattr(steps, "_raise", fail)
        with pytest.raises(ConnectionError):
            await steps.look()
    assert (await steps.look()).number == 1


async def test_it_is_aligned_for_the_number_that_counts_alone(database: Database) -> None:
    clocks = SetClocks()
    steps = node(database, clocks)
    await steps.look()
    clocks.database = -600
    first = await steps.look()
    clocks.database = -1200
    second = await steps.look()
    assert (first.number, second.number) == (1, 2)
    await steps.aligned(first.number)
    assert not (await steps.look()).aligned
    await steps.aligned(second.number)
    third = await steps.look()
    assert (third.aligned, third.others_aligned) == (True, False)
    await steps.others_aligned(first.number)
    assert not (await steps.look()).others_aligned
    await steps.others_aligned(second.number)
    assert (await steps.look()).others_aligned
