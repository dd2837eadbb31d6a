"""Log lines: one format for the whole process, the request id in every line of a request."""

import asyncio
import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

from netautod.core.json_values import to_text
from netautod.core.printable import printable
from netautod.core.repeats import FoldingHandler

current_request: ContextVar[str] = ContextVar("current_request", default="-")
COUNTS_SECONDS = 5.0
# Their info lines (every connection, every command) drown ours and may quote what a device says.
NOISY = ("asyncssh", "pymongo", "tornado.access")


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

    def format(self, record: logging.LogRecord) -> str:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        lines = [printable(self.formatMessage(record))]
        if record.exc_info:
            lines += self.formatException(record.exc_info).split("\n")
        if record.stack_info:
            lines += record.stack_info.split("\n")
        return "\n  ".join([lines[0], *map(printable, lines[1:])])


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
        # A character that is not to be seen is one only within a text, where JSON has its own escape for it.
        written = json.dumps(line, ensure_ascii=False)
        if written == printable(written):
            return written
        return "".join(c if printable(c) == c else json.dumps(c)[1:-1] for c in written)


def configure(*, level: str, format: str, stream: TextIO = sys.stderr) -> None:
    """Sets up the root logger once, for the whole process."""
    handler = FoldingHandler(stream)
    handler.addFilter(_RequestFilter())
    if format == "json":
        handler.setFormatter(_JsonFormatter())
    else:
        handler.setFormatter(TextFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for noisy in NOISY:
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))


async def tell_counts_forever() -> None:
    """Cancelled at the end: tells the counts of repeated lines also while nothing else is logged."""
    while True:
        await asyncio.sleep(COUNTS_SECONDS)
        for handler in logging.getLogger().handlers:
            if isinstance(handler, FoldingHandler):
                handler.tell_counts()
