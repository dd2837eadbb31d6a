"""What the garbage collector looks at, and when."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from netautod.core.loop.garbage import FEW_BLOCKS, LONGEST_SECONDS, NEW_OBJECTS, frozen_heap


class Knot:
    """Garbage that only a collection finds."""

    def __init__(self) -> None:
        self.own = self


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def collections_seen() -> Iterator[list[int]]:
    """The generations that are collected meanwhile."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)


def many(count: int) -> list[list[object]]:
    return [[] for _ in range(count)]


def test_what_was_there_at_the_start_is_left_alone() -> None:
    there = [object]
    thresholds = gc.get_threshold()
    with frozen_heap():
        assert gc.get_freeze_count() > 0
        assert not any(found is there for found in gc.get_objects())
        assert any(found is made for made in [[object]] for found in gc.get_objects())
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == thresholds
    assert any(found is there for found in gc.get_objects())


def test_only_new_objects_are_looked_at_as_they_come() -> None:
    with frozen_heap(), collections_seen() as seen:
        kept = many(30 * NEW_OBJECTS)
    assert len(kept) == 30 * NEW_OBJECTS
    assert len(seen) >= 20
    assert set(seen) == {0}


def aged_knot() -> "weakref.ref[Knot]":
    """Garbage that has outlived a collection of new objects."""
    knot = Knot()
    found = weakref.ref(knot)
    gc.collect(0)
    return found


async def test_garbage_that_has_lived_on_goes_where_there_is_little_else() -> None:
    with frozen_heap() as garbage:
        knot = aged_knot()
        assert knot() is not None
        await garbage.look()
        assert knot() is None


@pytest.mark.parametrize(
    ("waited", "collected"),
    [
        pytest.param(LONGEST_SECONDS - 1, False, id="not yet"),
        pytest.param(LONGEST_SECONDS, True, id="too long"),
    ],
)
async def test_with_a_large_table_in_the_making_it_waits_but_not_for_ever(
    waited: float, collected: bool
) -> None:
    clock = Clock()
    with frozen_heap(clock=clock) as garbage:
        knot, table = aged_knot(), many(FEW_BLOCKS + 2 * NEW_OBJECTS)
        clock.now += waited
        with collections_seen() as seen:
            await garbage.look()
        # Python itself may look at new objects at any moment.
        assert (knot() is None, [one for one in seen if one]) == (collected, [2] if collected else [])
        table.clear()
        await garbage.look()
        assert knot() is None


async def test_what_has_lived_on_is_collected_beside_a_large_table_of_before() -> None:
    with frozen_heap() as garbage:
        table = many(FEW_BLOCKS + 1)
        gc.collect(1)  # it is among the old ones by now
        knot = aged_knot()
        with collections_seen() as seen:
            await garbage.look()
        assert (knot() is None, [one for one in seen if one]) == (True, [1])
        assert len(table) == FEW_BLOCKS + 1


async def test_nothing_is_collected_where_nothing_has_lived_on() -> None:
    with frozen_heap() as garbage, collections_seen() as seen:
        await garbage.look()
    assert [one for one in seen if one] == []
