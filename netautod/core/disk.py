"""How much room a disk has, and one sentence for a full one wherever it is met."""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
# Less is as good as nothing: a database writes its journal in files of 100 MiB.
SCARCE_BYTES = 64 * MIB
# A quota of the user that is used up is a full disk to whoever writes.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FULL_TEXT = os.strerror(errno.ENOSPC)


@dataclass(frozen=True, kw_only=True)
class Space:
    """What the disk under a directory has, in bytes; `free` is what a user without privileges may take."""

    directory: Path
    free: int
    total: int

    @property
    def scarce(self) -> bool:
        return self.free < SCARCE_BYTES

    def __str__(self) -> str:
        return f"{self.free // MIB} of {self.total // MIB} MiB free"

    def full(self) -> str:
        """The sentence, without a full stop: which disk is full and how full."""
        return f"the disk of {self.directory} is full ({self})"


def space_of(path: Path) -> Space:
    """The disk of a path, or of its nearest folder that exists. Raises OSError if it cannot be looked at."""
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
    """Whether an error of the system says that a disk or a quota is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def says_full(text: str) -> bool:
    """Whether another program says so: mongod quotes the system in its log and in its answers."""
    return _FULL_TEXT in text


def reason(error: OSError, path: Path) -> str:
    """What an OSError on a path says to an operator; a full disk is named with its directory."""
    if not is_full(error):
        return error.strerror or str(error)
    try:
        return space_of(path).full()
    except OSError:
        return f"the disk of {path} is full"
