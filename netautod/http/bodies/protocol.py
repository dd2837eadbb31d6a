"""The protocol of the service and its body readers: a body goes out as it came, its value comes back pickled.

Both ends are this very program and the pipes are private. The value is made of JSON types by our own code, so
that pickle is safe here; and it holds no more than `MOST_VALUES` values.
"""

import pickle
import struct
from io import BytesIO
from typing import Any

READY = b"ready\n"
VALUE, REFUSED = 0, 1
REQUEST = struct.Struct(">Q")  # the length of the body
ANSWER = struct.Struct(">BQ")  # VALUE or REFUSED, and the length of what follows


def unpickled(content: bytes) -> Any:
    """Return the value. Call it in a thread: it lets other threads go on after each frame of 64 KiB."""
    return pickle.Unpickler(_Frames(content)).load()


class _Frames:
    """A file in Python: each reading is a chance for other threads, which the C code alone does not give."""

    def __init__(self, content: bytes) -> None:
        self._content = BytesIO(content)

    def read(self, size: int = -1, /) -> bytes:
        return self._content.read(size)

    def readline(self) -> bytes:
        return self._content.readline()
