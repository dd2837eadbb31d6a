"""The lock of a data directory: one service at a time owns it, and says at which socket its database is."""

import asyncio
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from netautod.store.embedded.files import DataDir, explained
from netautod.store.embedded.program import EmbeddedMongoError

# A reader (`find_running`) holds the lock for an instant; a starting service waits that long.
_READER_SECONDS = 1.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The content of the lock file: who holds it and, once the database is writable, at which socket."""

    pid: int | None
    socket: Path | None


class DataDirLock:
    """The exclusive use of one data directory; the kernel releases it however the holder dies."""

    def __init__(self, files: DataDir) -> None:
        self._files = files
        self._descriptor: int | None = None

    async def acquire(self) -> Owner:
        """Take the lock and return what its last owner wrote. Raises EmbeddedMongoError while one lives."""
        with explained(self._files.root):
            descriptor = os.open(
                self._files.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        try:
            if not await locked_within(descriptor, fcntl.LOCK_EX, _READER_SECONDS):
                raise EmbeddedMongoError(_in_use(self._files, _read_owner(descriptor)))
            before = _read_owner(descriptor)
            self._descriptor = descriptor
            self._write(f"{os.getpid()}\n")
        except BaseException:
            self._descriptor = None
            os.close(descriptor)
            raise
        return before

    def publish(self, socket: Path) -> None:
        """Let `running_socket` answer: the database behind `socket` is writable."""
        self._write(f"{os.getpid()}\n{os.fspath(socket)}\n")

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, text: str) -> None:
        if self._descriptor is None:
            raise RuntimeError("the data directory is not locked")
        with explained(self._files.root):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, os.fsencode(text), 0)


def running_socket(files: DataDir) -> Path | None:
    """Return the socket that the lock's living holder has published, if any."""
    try:
        with explained(files.root):
            descriptor = os.open(files.lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except EmbeddedMongoError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return None
        raise
    try:
        return None if _try_lock(descriptor, fcntl.LOCK_SH) else _read_owner(descriptor).socket
    finally:
        os.close(descriptor)


async def locked_within(descriptor: int, kind: int, seconds: float) -> bool:
    """Try to flock an open file (LOCK_EX or LOCK_SH) until it succeeds or `seconds` are over."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not _try_lock(descriptor, kind):
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)  # a lock of another process has no event to await
    return True


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_owner(descriptor: int) -> Owner:
    lines = os.fsdecode(os.pread(descriptor, 8192, 0)).split("\n")
    pid = int(lines[0]) if lines[0].isdigit() else None
    return Owner(pid=pid, socket=Path(lines[1]) if len(lines) > 2 else None)


def _in_use(files: DataDir, owner: Owner) -> str:
    who = f"process {owner.pid}" if owner.pid else "another process"
    return (
        f"The data directory {files.root} is in use by a running netautod ({who}): "
        "stop it, or choose another --data-dir"
    )
