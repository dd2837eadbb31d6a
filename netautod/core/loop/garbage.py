"""The schedule of Python's garbage collector: a collection stops everything for as long as it looks.

Left alone, it goes through all objects whenever a quarter more of them have lived on for a while. Rows of a
large table, or a topology, are hundreds of thousands of objects, and none of them garbage: looking at them
holds the loop for 25 to 50 ms, again and again. So only new objects are collected as they come, which takes
under a millisecond. Objects that live on are collected when there are few: large tables are freed as soon as
they are stored or answered, by their reference counts alone, which needs no collection.
"""

import gc
import linecache
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Between two collections of new objects. With Python's 700 a session on a device sets off dozens of them, a
# tenth of its processor time, and next to nothing that they look at is garbage.
NEW_OBJECTS = 10_000
NEVER = 1_000_000_000
# Pieces of memory more than at the start: a fifth or so are objects that a collection looks at, which takes
# 0.4 us each for rows of tables.
FEW_BLOCKS = 60_000
FEW_COLLECTIONS = 2  # of new objects: what has lived on since is looked at within 5 ms
LONGEST_SECONDS = 60.0
LOOK_SECONDS = 1.0  # between two looks for a good moment


class RareCollections:
    """A schedule of rare collections. `look` is called every LOOK_SECONDS; `clock` is in seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._collected_at = clock()
        # Counting the objects would take as long as looking at them.
        self._at_start = sys.getallocatedblocks()

    async def look(self) -> None:
        """Collect everything if there is little, or if LONGEST_SECONDS have passed.

        Otherwise collect what has lived on since the last look, if that is little.
        """
        _, young, old = gc.get_count()
        if young == 0 and old == 0:
            return  # nothing lives on that was not looked at
        waited = self._clock() - self._collected_at
        if waited >= LONGEST_SECONDS or sys.getallocatedblocks() - self._at_start <= FEW_BLOCKS:
            gc.collect()
            self._collected_at = self._clock()
        elif 0 < young <= FEW_COLLECTIONS:
            gc.collect(1)


@contextmanager
def frozen_heap(*, clock: Callable[[], float] = time.monotonic) -> Iterator[RareCollections]:
    """Freeze the objects that exist by now, which stay to the end, and leave old objects to rare
    collections."""
    thresholds = gc.get_threshold()
    linecache.clearcache()  # the driver notes who makes a client, with whole files of source: 1 MB
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, NEVER, NEVER)
    try:
        yield RareCollections(clock=clock)
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
