"""The protocol between the service and its rendering children: their frames and the limits of a render."""

import struct
from collections.abc import Callable

MIB = 1024 * 1024
MAX_OUTPUT = MIB
MAX_ERROR = 2000
MEMORY_BYTES = 256 * MIB
CPU_SECONDS = 2
WALL_SECONDS = 3.0
# The child's own alarm rings before the service's timeout, which would kill the warm interpreter too.
ALARM_SECONDS = 2.8
NICENESS = 5

TOO_MUCH_OUTPUT = "The output is larger than 1 MiB"
TOO_MUCH_MEMORY = "The template needs more than 256 MiB of memory"
TOO_MUCH_CPU = "The template took more than 2 seconds of CPU time"
TOO_LONG = "The template took longer than 3 seconds"
DIED = "The rendering process died"

READY = b"ready\n"
OUTPUT, ERROR = 0, 1
_REQUEST = struct.Struct(">II")
_ANSWER = struct.Struct(">BI")
REQUEST_HEADER = _REQUEST.size
ANSWER_HEADER = _ANSWER.size
MAX_ANSWER = max(MAX_OUTPUT, MAX_ERROR)


def request_frame(template: bytes, variables: bytes) -> bytes:
    """Build the frame of a request. `variables` is a JSON object in UTF-8."""
    return _REQUEST.pack(len(template), len(variables)) + template + variables


def request_lengths(header: bytes) -> tuple[int, int]:
    template, variables = _REQUEST.unpack(header)
    return template, variables


def answer_frame(status: int, text: bytes) -> bytes:
    return _ANSWER.pack(status, len(text)) + text


def answer_head(header: bytes) -> tuple[int, int]:
    """Return status and length. Raises ValueError for a header that no honest child writes."""
    status, length = _ANSWER.unpack(header)
    if status not in (OUTPUT, ERROR) or length > MAX_ANSWER:
        raise ValueError("not the answer of a rendering child")
    return status, length


def error_frame(text: str) -> bytes:
    return answer_frame(ERROR, text.encode("utf-8", "replace")[:MAX_ERROR])


def read_exactly(read: Callable[[int], bytes], count: int) -> bytes | None:
    """Read `count` bytes by a blocking `read`; None if the other side has closed before them."""
    parts: list[bytes] = []
    while count:
        part = read(min(count, MIB))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
