"""Log lines: one format for the whole process, the request id in every line of a request."""

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

from netautod.core.json_values import to_text

current_request: ContextVar[str] = ContextVar("current_request", default="-")


# Their info lines (every connection, every command) drown ours and may quote what a device says.
NOISY = ("asyncssh", "pymongo", "tornado.access")
# What a terminal obeys, what ends a line in some reader, and what turns the direction of the text around.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class _RequestFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request = current_request.get()
        return True


class TextFormatter(logging.Formatter):
    """One event is one line: texts of clients and devices are in it, and could forge or hide others.

    The trace of an exception follows in indented lines.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s [%(request)s] %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        return _printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802  # logging's name
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {_printable(line)}" for line in lines)


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": to_text(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request": getattr(record, "request", "-"),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        written = json.dumps(line, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def configure(*, level: str, format: str, stream: TextIO = sys.stderr) -> None:
    """Sets up the root logger once, for the whole process."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(_RequestFilter())
    if format == "json":
        handler.setFormatter(_JsonFormatter())
    else:
        handler.setFormatter(TextFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for noisy in NOISY:
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
