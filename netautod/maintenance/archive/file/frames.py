"""The frames of a backup: pieces of bounded size, each sealed in its place; the last one says that it is.

A frame is its length (four bytes, big end first), one byte that is 1 for the last frame, and the sealed
content. Behind the last one the file ends. So a file that was cut off, wherever, is taken for no whole one.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from netautod.maintenance.archive.file.sealing import CHANGED, Sealing
from netautod.store.migrations.archive_errors import DamagedError

_HEAD = struct.Struct(">IB")
# A document has 16 MiB at most, and one may end a frame.
MOST_BYTES = 24 << 20
_CUT_OFF = "The backup is cut off"


class FrameWriter:
    def __init__(self, file: BinaryIO, sealing: Sealing) -> None:
        self._file = file
        self._sealing = sealing
        self._number = 0

    def write(self, content: bytes, *, last: bool = False) -> None:
        """Write a frame. Raises OSError as the file does."""
        sealed = self._sealing.close(self._number, last, content)
        self._file.write(_HEAD.pack(len(sealed), last))
        self._file.write(sealed)
        self._number += 1


def read_frames(file: BinaryIO, sealing: Sealing) -> Iterator[bytes]:
    """Yield the contents, from where the file is to its end. Raises DamagedError."""
    number, last = 0, 0
    while not last:
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise DamagedError(_CUT_OFF)
        length, last = _HEAD.unpack(head)
        if length > MOST_BYTES or last > 1:
            raise DamagedError(CHANGED)
        sealed = file.read(length)
        if len(sealed) < length:
            raise DamagedError(_CUT_OFF)
        yield sealing.open(number, bool(last), sealed)
        number += 1
    if file.read(1):
        raise DamagedError("The backup goes on behind its end")
