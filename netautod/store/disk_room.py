"""The guard of the disk of the embedded database; a database elsewhere has its own guards.

A mongod that finds its disk full ends, and takes the reads along. So inserts are refused while there is still
room enough to log in, to cancel, to delete and to write how runs ended.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Self

from netautod.core.disk import MIB, Space, space_of
from netautod.core.errors import DiskFull
from netautod.core.loop.repeating import Repeating

logger = logging.getLogger(__name__)
LOOK_SECONDS = 2.0
RETRY_AFTER = 60
# So much more than needed has to be free again: at the very bound writes would come and go.
_RELIEF = 1.1


class Room:
    """A watch over the disk of `directory`: `async with` checks it now and then every few seconds.

    Outside of that, and without a directory or a need, there is room for everything. `exempt` are the
    collections that may grow all the same.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        needed_mib: int = 0,
        exempt: Collection[str] = (),
        look: Callable[[Path], Space] = space_of,
    ) -> None:
        self._directory = directory
        self._needed_mib = needed_mib
        self._exempt = frozenset(exempt)
        self._look = look
        self._space: Space | None = None
        self._short = False
        self._notify: Callable[[Space], None] = lambda space: None
        self._loop = Repeating(self.look, name="the look at the disk", seconds=LOOK_SECONDS)

    async def __aenter__(self) -> Self:
        if self._directory is not None:
            await self.look()
            self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.stop()
        self._short = False

    @property
    def space(self) -> Space | None:
        """Return what the last check found; None without a disk of ours."""
        return self._space

    @property
    def needed_mib(self) -> int:
        return self._needed_mib

    @property
    def short(self) -> bool:
        return self._short

    def follow(self, notify: Callable[[Space], None]) -> None:
        """Register a callback that is called after each check, and now if there was one."""
        self._notify = notify
        if self._space is not None:
            notify(self._space)

    def require(self) -> None:
        """Raise DiskFull, whose sentence names the disk, while there is room only for what does not grow."""
        if self._short:
            raise DiskFull(self._sentence(), retry_after=RETRY_AFTER)

    def require_for(self, collection: str) -> None:
        """Raise DiskFull for a new document of a collection that must not grow now."""
        if collection not in self._exempt:
            self.require()

    def out(self) -> str | None:
        """Return a sentence about the disk when it is so full that not even the database can go on; otherwise
        None.
        """
        return self._space.full() if self._space is not None and self._space.scarce else None

    async def look(self) -> None:
        if self._directory is None:
            return
        try:
            # Off the event loop: the file system of a sick disk or server may not answer.
            found = await asyncio.to_thread(self._look, self._directory)
        except OSError as error:
            logger.warning("the room on the disk of %s is unknown: %s", self._directory, error)
            return
        self._space = found
        self._notify(found)
        needed = self._needed_mib * MIB * (_RELIEF if self._short else 1)
        short = found.free < needed
        if short and not self._short:
            self._short = True
            logger.error("%s; what grows is refused", self._sentence())
        elif self._short and not short:
            self._short = False
            logger.warning("the disk of %s has room again (%s)", self._directory, found)

    def _sentence(self) -> str:
        return (
            f"The disk of {self._directory} is full: {self._space}, "
            f"and the last {self._needed_mib} MiB (data.min_free_mb) are kept for what does not grow"
        )
