"""One life of the embedded mongod: started on its socket, watched, and stopped."""

import asyncio
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from contextlib import suppress
from pathlib import Path

from pymongo.errors import PyMongoError

from netautod.core.disk import Space, says_full, space_of
from netautod.store.embedded.files import DataDir, explained, length, rotate, tail
from netautod.store.embedded.program import (
    EmbeddedMongoError,
    cause_of_exit,
    minimal_environment,
    tied_to_parent,
)
from netautod.store.embedded.replica import MEMBER_HOST, SET_NAME, become_writable

logger = logging.getLogger(__name__)

_CACHE_GIGABYTES = "0.25"
# The default is 5 % of the free disk; one member replays nothing, change streams look back minutes.
_OPLOG_MEGABYTES = "256"
# For how long what was is kept, to be read at a moment of the past; store/raw/history.py changes it.
HISTORY_PARAMETER = "minSnapshotHistoryWindowInSeconds"
HISTORY_SECONDS = 0
_LOG_BYTES = 16 << 20
# A loop of uvloop starts no process with a umask of its own.
_FOR_US_ALONE = 'umask 077; exec "$@"'
_LOG_CHECK_SECONDS = 60.0


class Mongod:
    """A running mongod. `Mongod.start(...)` returns when it takes writes; the caller stops it."""

    def __init__(self, process: Process, *, files: DataDir, space: Space, log_from: int) -> None:
        self._process = process
        self._files = files
        self._space = space  # at its start: one that fails for want of it lets go of what it took
        self._log_from = log_from  # what stands before it in the log is of an earlier life
        self._log_bound: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, program: Path, files: DataDir, socket: Path, *, start_seconds: float, stop_seconds: float
    ) -> "Mongod":
        """Start a mongod. Raises EmbeddedMongoError with one line, and leaves no process behind then."""
        log_from = length(files.log)
        with explained(files.root):
            space = space_of(files.database)
            _remove(socket)
            process = await _spawn(program, files, socket)
        made = cls(process, files=files, space=space, log_from=log_from)
        try:
            await made._ready(socket, start_seconds)
        except BaseException:
            await made.stop(stop_seconds)
            raise
        made._log_bound = asyncio.create_task(made._bound_log())
        return made

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ended(self) -> str:
        """Wait until it has ended and return one line with the cause."""
        returncode = await self._process.wait()
        return self._cause(returncode, space_of(self._files.database))

    async def stop(self, seconds: float) -> None:
        """Stop it and wait until it has ended; kill it if that takes longer than `seconds`."""
        if self._log_bound is not None:
            self._log_bound.cancel()
        process = self._process
        try:
            with suppress(ProcessLookupError):
                process.terminate()
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            logger.warning("embedded MongoDB did not stop in %g s and is killed", seconds)
            process.kill()
            await process.wait()
        finally:
            # Only a cancelled stop comes here with the child alive; the journal makes this safe.
            if process.returncode is None:
                process.kill()

    def _cause(self, returncode: int, space: Space) -> str:
        return cause_of_exit(returncode, tail(self._files.log, since=self._log_from), space)

    def _least(self) -> Space:
        """Return the lesser of the space at its start and now."""
        return min(self._space, space_of(self._files.database), key=lambda space: space.free)

    async def _ready(self, socket: Path, seconds: float) -> None:
        writable = asyncio.create_task(become_writable(socket))
        ended = asyncio.create_task(self._process.wait())
        try:
            await asyncio.wait({writable, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                cause = self._cause(ended.result(), self._least())
                raise EmbeddedMongoError(f"The embedded database cannot start: {cause}")
            if not writable.done():
                raise EmbeddedMongoError(
                    f"The embedded database was not up in {seconds:g} s: see {self._files.log}"
                )
            self._refusal(writable)
        finally:
            writable.cancel()
            ended.cancel()
            await asyncio.gather(writable, ended, return_exceptions=True)

    def _refusal(self, writable: "asyncio.Task[None]") -> None:
        """Raise what kept it from becoming writable, if anything did."""
        try:
            writable.result()
        except (EmbeddedMongoError, PyMongoError) as error:
            space = self._least()
            text = space.full() if says_full(str(error)) or space.scarce else str(error)
            raise EmbeddedMongoError(f"The embedded database cannot start: {text}") from error

    async def _bound_log(self) -> None:
        while True:
            await asyncio.sleep(_LOG_CHECK_SECONDS)
            with suppress(OSError):
                if rotate(self._files.log, beyond=_LOG_BYTES):
                    self._log_from = 0
                    self._process.send_signal(signal.SIGUSR1)  # with --logRotate reopen it opens a new file


def _remove(socket: Path) -> None:
    """Remove the socket that a killed mongod leaves, since the next one would not bind."""
    socket.unlink(missing_ok=True)


async def _spawn(program: Path, files: DataDir, socket: Path) -> Process:
    command = ["/bin/sh", "-c", _FOR_US_ALONE, "mongod", str(program), *_options(files)]
    log = os.open(files.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return await asyncio.create_subprocess_exec(
            *tied_to_parent(command, os.getpid()),
            cwd=socket.parent,
            env=minimal_environment(),
            stdin=DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C at the terminal is for us: we drain first, then stop it
        )
    finally:
        os.close(log)


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
    # Snapshots of the past are read by backups alone: a dropped table must not keep its file for five more
    # minutes.
    for parameter in (
        "diagnosticDataCollectionEnabled=false",
        "shutdownTimeoutMillisForSignaledShutdown=0",
        f"{HISTORY_PARAMETER}={HISTORY_SECONDS}",
    ):
        options += ["--setParameter", parameter]
    return options
