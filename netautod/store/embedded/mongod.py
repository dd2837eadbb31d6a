"""The private MongoDB: a mongod as a one-member replica set that lives and dies with this process."""

import asyncio
import fcntl
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from netautod.store.embedded.files import (
    DataDir,
    explained,
    prepare,
    remove_socket,
    rotate,
    socket_in,
    tail,
    uri_of,
)
from netautod.store.embedded.lock import DataDirLock, locked_within, running_socket
from netautod.store.embedded.program import (
    EmbeddedMongoError,
    cause_of_exit,
    find_mongod,
    minimal_environment,
    tied_to_parent,
)
from netautod.store.embedded.replica import MEMBER_HOST, SET_NAME, become_writable

__all__ = ["EmbeddedMongo", "EmbeddedMongoError", "find_running"]

logger = logging.getLogger(__name__)

_CACHE_GIGABYTES = "0.25"
# The default is 5 % of the free disk; one member replays nothing, change streams look back minutes.
_OPLOG_MEGABYTES = "256"
_LOG_BYTES = 16 << 20
_LOG_CHECK_SECONDS = 60.0
# A mongod whose service was killed ends at once; one that an operator stopped by hand takes a moment.
_EARLIER_MONGOD_SECONDS = 15.0


def find_running(data_dir: Path) -> str | None:
    """The URI of the database that a living service on `data_dir` owns; None when there is none to use.

    For commands beside a running service: on None they enter `EmbeddedMongo(data_dir)` themselves, which
    refuses while a service is still starting. Raises EmbeddedMongoError if this user may not look.
    """
    socket = running_socket(DataDir(root=data_dir.absolute()))
    return None if socket is None else uri_of(socket)


class EmbeddedMongo:
    """`async with EmbeddedMongo(data_dir) as mongo:` runs a mongod; `mongo.uri` serves pymongo and motor.

    The data lie in `<data_dir>/mongodb`, the log is `<data_dir>/mongod.log`. It listens on a unix socket in
    a 0700 directory and on nothing else, so only this user (and root) can connect. Enter it from the thread
    that lives as long as the service: the kernel kills the mongod when that thread ends. Entering raises
    EmbeddedMongoError with one line: no mongod, a library missing, directory in use, start failed.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        mongod: Path | None = None,
        start_seconds: float = 120.0,
        stop_seconds: float = 15.0,
    ) -> None:
        self._files = DataDir(root=data_dir.absolute())
        self._mongod = mongod
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        self._stack = AsyncExitStack()
        self._process: Process | None = None
        self._uri: str | None = None

    @property
    def uri(self) -> str:
        """The connection string (direct, over the socket); only inside of `async with`."""
        if self._uri is None:
            raise RuntimeError("the embedded MongoDB is not running")
        return self._uri

    @property
    def pid(self) -> int:
        """The process id of the mongod; only inside of `async with`."""
        return self._running().pid

    async def ended(self) -> str:
        """Returns one line when the mongod ends by itself; the service should then stop too."""
        returncode = await self._running().wait()
        return cause_of_exit(returncode, tail(self._files.log))

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
        mongod = self._mongod or find_mongod()
        files = self._files
        prepare(files)
        lock = DataDirLock(files)
        earlier = await lock.acquire()
        stack.callback(lock.release)
        await _earlier_mongod_gone(files.database / "mongod.lock")
        if earlier.socket is not None:
            remove_socket(files, earlier.socket)
        socket = socket_in(files)
        stack.callback(remove_socket, files, socket)
        with explained(files.root):
            socket.unlink(missing_ok=True)
            rotate(files.log)
            process = await self._spawn(mongod, socket)
        self._process = process
        stack.push_async_callback(self._stop, process)
        await self._ready(process, socket)
        lock.publish(socket)
        watch = asyncio.create_task(self._bound_log(process))
        stack.callback(watch.cancel)
        return socket

    async def _spawn(self, mongod: Path, socket: Path) -> Process:
        command = [str(mongod), *_options(self._files)]
        log = os.open(self._files.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            return await asyncio.create_subprocess_exec(
                *tied_to_parent(command, os.getpid()),
                cwd=socket.parent,
                env=minimal_environment(),
                stdin=DEVNULL,
                stdout=log,
                stderr=log,
                umask=0o077,
                start_new_session=True,  # Ctrl-C at the terminal is for us: we drain first, then stop it
            )
        finally:
            os.close(log)

    async def _ready(self, process: Process, socket: Path) -> None:
        writable = asyncio.create_task(become_writable(socket))
        ended = asyncio.create_task(process.wait())
        try:
            await asyncio.wait(
                {writable, ended}, timeout=self._start_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if ended.done():
                cause = cause_of_exit(ended.result(), tail(self._files.log))
                raise EmbeddedMongoError(f"The embedded database cannot start: {cause}")
            if not writable.done():
                raise EmbeddedMongoError(
                    f"The embedded database was not up in {self._start_seconds:g} s: see {self._files.log}"
                )
            writable.result()
        finally:
            writable.cancel()
            ended.cancel()
            await asyncio.gather(writable, ended, return_exceptions=True)

    async def _stop(self, process: Process) -> None:
        self._process = None
        try:
            with suppress(ProcessLookupError):
                process.terminate()
            async with asyncio.timeout(self._stop_seconds):
                await process.wait()
        except TimeoutError:
            logger.warning("embedded MongoDB did not stop in %g s and is killed", self._stop_seconds)
            process.kill()
            await process.wait()
        finally:
            # Only a cancelled stop comes here with the child alive; the journal makes this safe.
            if process.returncode is None:
                process.kill()

    async def _bound_log(self, process: Process) -> None:
        while True:
            await asyncio.sleep(_LOG_CHECK_SECONDS)
            with suppress(OSError):
                if rotate(self._files.log, beyond=_LOG_BYTES):
                    process.send_signal(signal.SIGUSR1)  # with --logRotate reopen it opens a new file

    def _running(self) -> Process:
        if self._process is None:
            raise RuntimeError("the embedded MongoDB is not running")
        return self._process


def _options(files: DataDir) -> list[str]:
    # --nounixsocket only drops the default socket in /tmp, which two mongods would fight over; the path in
    # --bind_ip stays, and with nothing else there no TCP port is opened (tried with 6.0.5).
    options = [
        "--dbpath",
        str(files.database),
        "--bind_ip",
        MEMBER_HOST,
        "--nounixsocket",
        "--replSet",
        SET_NAME,
    ]
    options += ["--wiredTigerCacheSizeGB", _CACHE_GIGABYTES, "--oplogSize", _OPLOG_MEGABYTES, "--noscripting"]
    options += ["--logpath", str(files.log), "--logappend", "--logRotate", "reopen", "--quiet"]
    # A primary without secondaries cannot hand over: skip the 15 s of quiescing on SIGTERM.
    # Snapshots of the past are not read here: a dropped table must not keep its file for five more minutes.
    for parameter in (
        "diagnosticDataCollectionEnabled=false",
        "shutdownTimeoutMillisForSignaledShutdown=0",
        "minSnapshotHistoryWindowInSeconds=0",
    ):
        options += ["--setParameter", parameter]
    return options


async def _earlier_mongod_gone(lock: Path) -> None:
    """Waits for a mongod that still holds the database, as one does while it shuts down."""
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
