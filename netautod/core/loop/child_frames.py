"""The frames between the service and a child process, and the child's end of them.

Both ends are this very program and the pipes are private. A frame is a header (whether the request was done,
and the length) and bytes; what the bytes mean is known to the user of the child. Children import this module:
it starts no event loop.
"""

import io
import os
import struct
from collections.abc import Iterator

READY = b"ready\n"
HEADER = struct.Struct(">BQ")
REFUSED, DONE = 0, 1
STDIN, STDOUT = 0, 1
NICENESS = 5


def header(content: bytes, *, done: bool = True) -> bytes:
    return HEADER.pack(DONE if done else REFUSED, len(content))


def frame(content: bytes, *, done: bool = True) -> bytes:
    return header(content, done=done) + content


def requests() -> Iterator[bytes]:
    """Say that this child is ready and yield the requests, until the service closes its end or dies.

    The caller writes the answer of each before it takes the next one.
    """
    os.nice(NICENESS)  # the service's loop comes first when the machine is busy
    # The buffer is of one byte: nothing is read ahead, and no request stays in it for a fork to find.
    source = io.BufferedReader(io.FileIO(STDIN, closefd=False), 1)
    write(STDOUT, READY)
    while len(head := source.read(HEADER.size)) == HEADER.size:
        _, length = HEADER.unpack(head)
        content = source.read(length)
        if len(content) < length:
            return
        yield content


def answer(content: bytes, *, done: bool) -> None:
    write(STDOUT, frame(content, done=done))


def write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
