"""The files around the embedded database: its directories, its socket and its log."""

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

from netautod.core.disk import reason
from netautod.store.embedded.program import EmbeddedMongoError

SOCKET_NAME = "mongod.sock"
# sun_path holds 108 bytes with the closing NUL (unix(7)).
SOCKET_PATH_BYTES = 107
# Several pymongo 4 releases unquote the hosts of a URI before they split them at commas and colons.
_URI_SAFE = re.compile(r"[A-Za-z0-9/._-]+")
_SHORT_PREFIX = "netautod-"
_FIRST_FILE = "WiredTiger"  # of the storage engine, in every folder that holds its data


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


def holds_database(data_dir: Path) -> bool:
    """Return whether mongod has created a database there. Raises EmbeddedMongoError if this user may not
    look.
    """
    files = DataDir(root=data_dir.absolute())
    with explained(files.root):
        return (files.database / _FIRST_FILE).exists()


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """Turn an OSError on the data directory into one line."""
    try:
        yield
    except OSError as error:
        where = error.filename or root
        raise EmbeddedMongoError(
            f"The data directory {root} is not usable: {reason(error, root)}: {where}"
        ) from error


def prepare(files: DataDir) -> None:
    """Create the directories with mode 0700; refuse what another user owns or could replace."""
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


def socket_in(files: DataDir) -> Path:
    """Return the socket's path: in `run`, or in a new short 0700 directory when that fits no socket or
    URI."""
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
    """Remove the socket and the short directory made for it, if any (also those of an earlier life)."""
    with suppress(OSError):
        socket.unlink()
    if socket.parent != files.run and socket.parent.name.startswith(_SHORT_PREFIX):
        with suppress(OSError):
            socket.parent.rmdir()


def uri_of(socket: Path) -> str:
    """Return a connection string; direct, since the member's host name means nothing outside of mongod."""
    return f"mongodb://{quote(os.fspath(socket), safe='')}/?directConnection=true"


def rotate(log: Path, *, beyond: int = 0) -> bool:
    """Move a log of more than `beyond` bytes aside as `<name>.1`, over the one before; return whether it
    did."""
    if not log.exists() or log.stat().st_size <= beyond:
        return False
    log.replace(log.with_name(log.name + ".1"))
    return True


def length(log: Path) -> int:
    """Return the bytes of the log so far; 0 when there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def tail(log: Path, *, since: int = 0, size: int = 1 << 18) -> str:
    """Return the last `size` bytes of the log behind its first `since` as text; empty when there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(since, os.fstat(file.fileno()).st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
