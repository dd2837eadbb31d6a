"""Log lines: one format for the whole process, with the ids that a line belongs to."""

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from netautod.core.logs.folding import FoldingHandler
from netautod.core.logs.lines import EVENT, FIELDS, Belonging, current
from netautod.core.text.printable import printable

OF_PLUGINS = "plugin."
"""The names of the loggers that plugins are lent begin so."""
Hide = Callable[[str, str], str]
"""Takes the name of a logger and a text, and returns the text without secrets."""
COUNTS_SECONDS = 5.0
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)
# Their info lines (every connection, every command) drown ours and may quote what a device says.
NOISY = ("asyncssh", "pymongo", "tornado.access")


class _BelongingFilter(logging.Filter):
    """A filter that notes the ids when the line is made: a thread of the handler knows nothing of the
    request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        record.belonging = current.get()
        return True


def _at(record: logging.LogRecord) -> str:
    """Return the time of a record in ISO 8601, UTC, with milliseconds, as everywhere in the API."""
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.created * 1000) % 1000:03d}Z"


def _belonging(record: logging.LogRecord) -> Belonging:
    found: Belonging = getattr(record, "belonging", Belonging())
    return found


class TextFormatter(logging.Formatter):
    """A formatter that writes one event as one line, since texts of clients and devices could forge or hide
    others.

    The ids stand before the text, where no text can imitate them. The trace of an exception follows in
    indented lines.
    """

    def __init__(self, hide: Hide) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        request, organization, user, execution, _ = _belonging(record)
        named = (("org", organization), ("user", user), ("execution", execution))
        ids = " ".join([request, *(f"{name}={value}" for name, value in named if value)])
        head = f"{_at(record)} {record.levelname:<7} {record.name} [{ids}] "
        lines = [printable(head + self._hide(record.name, record.getMessage()))]
        if record.exc_info:
            lines += self._hide(record.name, self.formatException(record.exc_info)).split("\n")
        if record.stack_info:
            lines += self._hide(record.name, record.stack_info).split("\n")
        return "\n  ".join([lines[0], *map(printable, lines[1:])])


class JsonFormatter(logging.Formatter):
    """A formatter that writes one event as one line with one JSON object, whatever is in it."""

    def __init__(self, hide: Hide) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": _at(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            **_belonging(record).named(),
            "message": self._hide(record.name, record.getMessage()),
        }
        event = getattr(record, EVENT, None)
        if event is not None:
            line |= {EVENT: event, **getattr(record, FIELDS)}
        if record.exc_info:
            line["trace"] = self._hide(record.name, self.formatException(record.exc_info))
        # A character that is not to be seen is one only within a text, where JSON has its own escape for it.
        written = _ENCODER.encode(line)
        if written == printable(written):
            return written
        return "".join(c if printable(c) == c else json.dumps(c)[1:-1] for c in written)


def configure(*, level: str, format: str, hide: Hide, stream: TextIO = sys.stderr) -> None:
    """Set up the root logger once, for the whole process; `hide` takes secrets out of all that is logged."""
    handler = FoldingHandler(stream)
    handler.addFilter(_BelongingFilter())
    if format == "json":
        handler.setFormatter(JsonFormatter(hide))
    else:
        handler.setFormatter(TextFormatter(hide))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for noisy in NOISY:
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))


async def report_counts_forever() -> None:
    """Report the counts of repeated lines until cancelled, also while nothing else is logged."""
    while True:
        await asyncio.sleep(COUNTS_SECONDS)
        for handler in logging.getLogger().handlers:
            if isinstance(handler, FoldingHandler):
                handler.report_counts()
