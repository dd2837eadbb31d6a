"""A file that appears under its name when it is whole, and never in the place of another one."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from netautod.core.disk import reason
from netautod.core.errors import InvalidInput
from netautod.store.migrations.archive_errors import ArchiveError

# File systems that know no file without a name say one of these (open(2), O_TMPFILE).
_NEEDS_NAME = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL})
# And those that know no second name for a file (link(2)).
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_BUFFER_BYTES = 1 << 20


class NewFile:
    """A file made by `new_file`. `file` is open for writing and reading, mode 0600."""

    def __init__(self, file: BinaryIO, path: Path, part: Path | None) -> None:
        self.file = file
        self._path = path
        self._part = part

    def restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()

    def written(self) -> None:
        """Flush it to the disk, and go back to its beginning."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.seek(0)

    def publish(self) -> None:
        """Give the written file its name. Raises InvalidInput if the name was taken meanwhile."""
        try:
            self._link()
        except FileExistsError as error:
            raise _taken(self._path) from error
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _link(self) -> None:
        if self._part is None:
            # With a folder named, though the path is absolute, Python's link follows to the file itself.
            number = self.file.fileno()
            os.link(f"/proc/self/fd/{number}", self._path, src_dir_fd=number)
            return
        try:
            os.link(self._part, self._path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # If we die before the last line, the empty file that takes the name is no backup, but in the way.
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            os.replace(self._part, self._path)


@contextmanager
def new_file(path: Path) -> Iterator[NewFile]:
    """Create a file. What ends the block before `publish` leaves nothing behind, but for a kill where files
    need names.

    Raises InvalidInput if the name is taken, ArchiveError when the system refuses to write.
    """
    path = path.absolute()
    if os.path.lexists(path):
        raise _taken(path)
    with _explained(path):
        descriptor, part = _opened(path)
        file = os.fdopen(descriptor, "w+b", buffering=_BUFFER_BYTES)
        try:
            with _explained(path):  # while the part takes the room that is lacking
                yield NewFile(file, path, part)
        finally:
            with suppress(OSError):  # what a full disk did not take is lost, and that was reported
                file.close()
            if part is not None:
                with suppress(FileNotFoundError):  # it has its own name by now
                    part.unlink()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArchiveError(f"{path} cannot be written: {reason(error, path.parent)}") from error


def _opened(path: Path) -> tuple[int, Path | None]:
    """Open a file without a name where the file system can do that: a kill leaves nothing then."""
    try:
        return _unnamed(path.parent), None
    except OSError as error:
        if error.errno not in _NEEDS_NAME:
            raise
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)  # mode 0600
    return descriptor, Path(name)


def _unnamed(folder: Path) -> int:
    return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)


def _taken(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} exists already and is not overwritten")
