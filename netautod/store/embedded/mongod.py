"""The private MongoDB: a mongod as a one-member replica set that lives and dies with this process.

One that ends while it is needed is started again, whatever ended it: a crash, the kernel for want of memory,
an operator. Its socket stays where it was, so clients find it again; what was acknowledged is in its journal.
"""

import asyncio
import fcntl
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from netautod.core.disk import MIB, space_of
from netautod.store.embedded.files import (
    DataDir,
    explained,
    prepare,
    remove_socket,
    rotate,
    socket_in,
    uri_of,
)
from netautod.store.embedded.life import Mongod
from netautod.store.embedded.lock import DataDirLock, locked_within, running_socket
from netautod.store.embedded.program import EmbeddedMongoError, find_mongod
from netautod.store.embedded.restarts import RestartRule

__all__ = ["EmbeddedMongo", "EmbeddedMongoError", "find_running"]

logger = logging.getLogger(__name__)

# A mongod whose service was killed ends at once; one that an operator stopped by hand takes a moment.
_EARLIER_MONGOD_SECONDS = 15.0
# A start wants a journal file of 100 MiB beside those that it replays.
_START_BYTES = 128 * MIB
_ROOM_CHECK_SECONDS = 2.0


def find_running(data_dir: Path) -> str | None:
    """Return the URI of the database that a living service on `data_dir` owns; None when there is none to
    use.

    For commands beside a running service: on None they enter `EmbeddedMongo(data_dir)` themselves, which
    refuses while a service is still starting. Raises EmbeddedMongoError if this user may not look.
    """
    socket = running_socket(DataDir(root=data_dir.absolute()))
    return None if socket is None else uri_of(socket)


class EmbeddedMongo:
    """A private mongod: `async with EmbeddedMongo(data_dir) as mongo:` runs it; `mongo.uri` serves pymongo
    and motor.

    The data lie in `<data_dir>/mongodb`, the log is `<data_dir>/mongod.log`. It listens on a unix socket in a
    0700 directory and on nothing else, so only this user (and root) can connect. Enter it from the thread
    that lives as long as the service: the kernel kills the mongod when that thread ends. Entering raises
    EmbeddedMongoError with one line: no mongod, a library missing, directory in use, disk full, start failed.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        mongod: Path | None = None,
        start_seconds: float = 120.0,
        stop_seconds: float = 15.0,
        restarts: RestartRule | None = None,
    ) -> None:
        self._files = DataDir(root=data_dir.absolute())
        self._mongod = mongod
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        self._rule = restarts or RestartRule()
        self._stack = AsyncExitStack()
        self._life: Mongod | None = None
        self._keeper: asyncio.Task[str] | None = None
        self._uri: str | None = None

    @property
    def uri(self) -> str:
        """The connection string (direct, over the socket); only inside of `async with`."""
        if self._uri is None:
            raise RuntimeError("the embedded MongoDB is not running")
        return self._uri

    @property
    def pid(self) -> int:
        """The process id of the mongod; another one after each restart. Only inside of `async with`."""
        return self._running().pid

    async def ended(self) -> str:
        """Wait until the mongod has ended for good and return one line; the service should then stop too."""
        if self._keeper is None:
            raise RuntimeError("the embedded MongoDB is not running")
        return await asyncio.shield(self._keeper)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            socket = await self._start(stack)
            self._stack = stack.pop_all()
        self._uri = uri_of(socket)
        logger.info("embedded MongoDB is ready (pid %d, socket %s)", self.pid, socket)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._uri = None
        await self._stack.aclose()

    async def _start(self, stack: AsyncExitStack) -> Path:
        program = self._mongod or find_mongod()
        files = self._files
        prepare(files)
        lock = DataDirLock(files)
        earlier = await lock.acquire()
        stack.callback(lock.release)
        if earlier.socket is not None:
            await _earlier_mongod_gone(files.database / "mongod.lock")
            remove_socket(files, earlier.socket)
        socket = socket_in(files)
        stack.callback(remove_socket, files, socket)
        with explained(files.root):
            rotate(files.log)
        stack.push_async_callback(self._stop)

        async def begin() -> None:
            await _earlier_mongod_gone(files.database / "mongod.lock")
            self._life = await Mongod.start(
                program, files, socket, start_seconds=self._start_seconds, stop_seconds=self._stop_seconds
            )

        await begin()
        lock.publish(socket)
        self._keeper = asyncio.create_task(self._keep(begin), name="embedded MongoDB")
        return socket

    async def _stop(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        if self._life is not None:
            life, self._life = self._life, None
            await life.stop(self._stop_seconds)

    async def _keep(self, begin: Callable[[], Awaitable[None]]) -> str:
        """Restart it whenever it has ended; return the line with which it is given up."""
        restarts: list[float] = []
        clock = asyncio.get_running_loop().time
        cause = await self._running().ended()
        while True:
            if not await self._room_came(cause):
                pause = self._rule.pause(restarts, clock())
                if pause is None:
                    return f"{cause}, after it was started again {self._rule}: see {self._files.log}"
                restarts.append(clock())
                logger.error("the embedded MongoDB is started again: %s", cause)
                await asyncio.sleep(pause)
            try:
                await begin()
            except EmbeddedMongoError as error:
                cause = error.text
                continue
            logger.info("embedded MongoDB is ready again (pid %d)", self.pid)
            cause = await self._running().ended()

    async def _room_came(self, cause: str) -> bool:
        """Wait while the disk is too full for a start, however long; return whether it was.

        Such ends do not count as restarts: in a minute without room all of them would be used up.
        """
        space = space_of(self._files.database)
        if space.free >= _START_BYTES:
            return False
        logger.error(
            "the embedded MongoDB waits for %d MiB of room: %s; %s", _START_BYTES // MIB, cause, space.full()
        )
        while space.free < _START_BYTES:
            await asyncio.sleep(_ROOM_CHECK_SECONDS)
            space = space_of(self._files.database)
        logger.warning("the embedded MongoDB is started again, its disk has room (%s)", space)
        return True

    def _running(self) -> Mongod:
        if self._life is None:
            raise RuntimeError("the embedded MongoDB is not running")
        return self._life


async def _earlier_mongod_gone(lock: Path) -> None:
    """Wait for a mongod that still holds the database, as one does while it shuts down."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not await locked_within(descriptor, fcntl.LOCK_SH, _EARLIER_MONGOD_SECONDS):
            pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            raise EmbeddedMongoError(
                f"A mongod that netautod did not start (pid {pid}) uses {lock.parent}: stop it"
            )
    finally:
        os.close(descriptor)
