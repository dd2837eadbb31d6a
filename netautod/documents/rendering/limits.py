"""The limits of a render, and the requests and answers of its child."""

from netautod.core.loop.child_frames import frame

MIB = 1024 * 1024
MAX_OUTPUT = MIB
MAX_ERROR = 2000
MEMORY_BYTES = 256 * MIB
CPU_SECONDS = 2
WALL_SECONDS = 3.0
# The child's own alarm rings before the service's timeout, which would kill the warm interpreter too.
ALARM_SECONDS = 2.8

TOO_MUCH_OUTPUT = "The output is larger than 1 MiB"
TOO_MUCH_MEMORY = "The template needs more than 256 MiB of memory"
TOO_MUCH_CPU = "The template took more than 2 seconds of CPU time"
TOO_LONG = "The template took longer than 3 seconds"
DIED = "The rendering process died"

# What a child does with a template: renders it, does so with all undefined names as errors, lists its names.
RENDER, RENDER_STRICT, LIST_NAMES = "render", "render strictly", "list names"

MAX_ANSWER = max(MAX_OUTPUT, MAX_ERROR)


def pack_request(template: bytes, options: bytes) -> bytes:
    """Build a request. `options` is a JSON object in UTF-8 without raw newlines, as `perform` takes it."""
    return template + b"\n" + options


def unpack_request(request: bytes) -> tuple[bytes, bytes]:
    template, _, options = request.rpartition(b"\n")
    return template, options


def error_frame(text: str) -> bytes:
    return frame(text.encode("utf-8", "replace")[:MAX_ERROR], done=False)
