"""Owns what surrounds the embedded database on disk: directories, the owner's lock, socket and log."""

import asyncio
import fcntl
import os
import pwd
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from netautod.store.embedded.program import EmbeddedMongoError

SOCKET_NAME = "mongod.sock"
# sun_path holds 108 bytes with the closing NUL (unix(7)).
SOCKET_PATH_BYTES = 107
# Several pymongo 4 releases unquote the hosts of a URI before they split them at commas and colons.
_URI_SAFE = re.compile(r"[A-Za-z0-9/._-]+")
_SHORT_PREFIX = "netautod-"

# A reader (`find_running`) holds the lock for an instant; a starting service sits that out.
_LOCK_PATIENCE_SECONDS = 1.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class DataDir:
    """The paths of the embedded database under one data directory (absolute)."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "mongodb"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def lock(self) -> Path:
        return self.root / "netautod.lock"

    @property
    def log(self) -> Path:
        return self.root / "mongod.log"


@dataclass(frozen=True, kw_only=True)
class Owner:
    """What the lock file says: who holds it and, once the database is writable, at which socket."""

    pid: int | None
    socket: Path | None


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """Turns an OSError on the data directory into one line."""
    try:
        yield
    except OSError as error:
        where = error.filename or root
        raise EmbeddedMongoError(
            f"The data directory {root} is not usable: {error.strerror}: {where}"
        ) from error


def prepare(files: DataDir) -> None:
    """Makes the directories, 0700; refuses what another user owns or could replace."""
    with explained(files.root):
        files.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = files.root.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise EmbeddedMongoError(
                f"Every user may write in the data directory {files.root}: chmod o-w it first"
            )
        for directory in (files.database, files.run):
            _make_private(directory)


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise EmbeddedMongoError(f"{directory} is not a directory")
    if found.st_uid != os.geteuid():
        # Files that root makes here would lock the service's own user out at its next start.
        raise EmbeddedMongoError(
            f"{directory} belongs to user {_user_name(found.st_uid)}: run this as that user"
        )
    directory.chmod(0o700)


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


class DataDirLock:
    """The exclusive use of one data directory; the kernel releases it however the holder dies."""

    def __init__(self, files: DataDir) -> None:
        self._files = files
        self._descriptor: int | None = None

    async def acquire(self) -> Owner:
        """Takes the lock and returns what its last owner left written; EmbeddedMongoError while one lives."""
        with explained(self._files.root):
            descriptor = os.open(
                self._files.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        try:
            if not await locked_within(descriptor, fcntl.LOCK_EX, _LOCK_PATIENCE_SECONDS):
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
        """Lets `running_socket` answer: the database behind `socket` is writable."""
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
    """The socket that the lock's living holder has published, if any."""
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
    """Tries to flock an open file (LOCK_EX or LOCK_SH) until it succeeds or `seconds` are over."""
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


def socket_in(files: DataDir) -> Path:
    """The socket's path: in `run`, or in a new short 0700 directory when that fits no socket or URI."""
    preferred = files.run / SOCKET_NAME
    if _usable(preferred):
        return preferred
    for parent in (tempfile.gettempdir(), "/tmp"):
        if _usable(Path(parent) / (_SHORT_PREFIX + "x" * 8) / SOCKET_NAME):
            with explained(Path(parent)):
                return Path(tempfile.mkdtemp(prefix=_SHORT_PREFIX, dir=parent)) / SOCKET_NAME
    raise EmbeddedMongoError(f"The data directory {files.root} has too long a path for a unix socket")


def _usable(socket: Path) -> bool:
    text = os.fspath(socket)
    return len(os.fsencode(text)) <= SOCKET_PATH_BYTES and _URI_SAFE.fullmatch(text) is not None


def remove_socket(files: DataDir, socket: Path) -> None:
    """Removes the socket and the short directory made for it, if any (also those of an earlier life)."""
    with suppress(OSError):
        socket.unlink()
    if socket.parent != files.run and socket.parent.name.startswith(_SHORT_PREFIX):
        with suppress(OSError):
            socket.parent.rmdir()


def uri_of(socket: Path) -> str:
    """A connection string; direct, since the member's host name means nothing outside of mongod."""
    return f"mongodb://{quote(os.fspath(socket), safe='')}/?directConnection=true"


def rotate(log: Path, *, beyond: int = 0) -> bool:
    """Moves a log of more than `beyond` bytes aside as `<name>.1`, over the one before; says if it did."""
    if not log.exists() or log.stat().st_size <= beyond:
        return False
    log.replace(log.with_name(log.name + ".1"))
    return True


def tail(log: Path, size: int = 1 << 18) -> str:
    """The last `size` bytes of the log as text; empty when there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
