"""What the start of the server does beside starting its parts."""

import gc
from contextlib import AsyncExitStack

from netautod.app.server import NEW_OBJECTS, set_aside_heap


async def test_the_collector_leaves_alone_what_was_there_at_the_start() -> None:
    there = [object]
    thresholds = gc.get_threshold()
    async with AsyncExitStack() as stack:
        set_aside_heap(stack)
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() == (NEW_OBJECTS, *thresholds[1:])
        assert not any(found is there for found in gc.get_objects())
        assert any(found is made for made in [[object]] for found in gc.get_objects())
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == thresholds
    assert any(found is there for found in gc.get_objects())
