"""The body reader: a process beside the service that decodes large JSON and checks it, off the event loop.

Decoding is one call that keeps the interpreter: 100 ms for the worst MiB, in whatever thread. The reader
serves one body at a time and ends when the service closes its standard input, however that happens.
"""

import gc
import os
import pickle
import sys
from typing import BinaryIO

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.http.bodies.protocol import ANSWER, READY, REFUSED, REQUEST, VALUE

NICENESS = 5


def main() -> None:
    os.nice(NICENESS)  # the service's loop comes first when the machine is busy
    gc.disable()  # JSON has no cycles
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    _write(sink, READY)
    while (body := _next(source)) is not None:
        status, content = _answer(body)
        _write(sink, ANSWER.pack(status, len(content)) + content)


def _answer(body: bytes) -> tuple[int, bytes]:
    try:
        return VALUE, pickle.dumps(json_values.decode(body), protocol=pickle.HIGHEST_PROTOCOL)
    except InvalidInput as error:
        return REFUSED, error.text.encode("utf-8", "replace")


def _next(source: BinaryIO) -> bytes | None:
    """Return the next body; None when the service has gone."""
    header = source.read(REQUEST.size)
    if len(header) < REQUEST.size:
        return None
    (length,) = REQUEST.unpack(header)
    body = source.read(length)
    return body if len(body) == length else None


def _write(sink: BinaryIO, data: bytes) -> None:
    sink.write(data)
    sink.flush()
