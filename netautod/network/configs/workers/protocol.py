"""The protocol of the service and its text workers: frames of pickled values over the standard streams.

Both ends are this very program and the pipes are private, so pickle is safe here: a frame never holds
anything but values that our own code made.
"""

import pickle
import struct
from typing import Any, Literal

HEADER = struct.Struct(">Q")
READY = b"ready\n"
Status = Literal["done", "refused"]


def frame(value: Any) -> bytes:
    content = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(len(content)) + content


def value_of(content: bytes) -> Any:
    return pickle.loads(content)
