"""The room on a disk, and the one sentence for a full disk."""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
# Less is as good as nothing: a database writes its journal in files of 100 MiB.
SCARCE_BYTES = 64 * MIB
# A quota of the user that is used up is a full disk to the program that writes.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FULL_TEXT = os.strerror(errno.ENOSPC)


@dataclass(frozen=True, kw_only=True)
class Space:
    """The room on the disk under a directory, in bytes. `free` is what a user without privileges may take."""

    directory: Path
    free: int
    total: int

    @property
    def scarce(self) -> bool:
        return self.free < SCARCE_BYTES

    def __str__(self) -> str:
        return f"{self.free // MIB} of {self.total // MIB} MiB free"

    def full(self) -> str:
        """Return a sentence without a full stop that says which disk is full and how full."""
        return f"the disk of {self.directory} is full ({self})"


def space_of(path: Path) -> Space:
    """Return the room on the disk of a path, or of its nearest folder that exists. Raises OSError if it
    cannot be read.
    """
    directory = path
    while True:
        try:
            found = os.statvfs(directory)
        except (FileNotFoundError, NotADirectoryError):
            if directory == directory.parent:
                raise
            directory = directory.parent
        else:
            break
    size = found.f_frsize
    return Space(directory=path, free=found.f_bavail * size, total=found.f_blocks * size)


def is_full(error: BaseException) -> bool:
    """Return whether an error of the system says that a disk or a quota is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def says_full(text: str) -> bool:
    """Return whether the text of another program says that a disk is full; mongod quotes the system in its
    log and answers.
    """
    return _FULL_TEXT in text


def reason(error: OSError, path: Path) -> str:
    """Return what an OSError on a path says to an operator. A full disk is named with its directory."""
    if not is_full(error):
        return error.strerror or str(error)
    try:
        return space_of(path).full()
    except OSError:
        return f"the disk of {path} is full"
