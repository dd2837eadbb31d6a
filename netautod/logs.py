"""Log lines: one format for the whole process, the request id in every line of a request."""

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

from netautod.clock import to_text

current_request: ContextVar[str] = ContextVar("current_request", default="-")


class _RequestFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request = current_request.get()
        return True


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
        return json.dumps(line, ensure_ascii=False)


def configure(*, level: str, format: str, stream: TextIO = sys.stderr) -> None:
    """Sets up the root logger once, for the whole process."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(_RequestFilter())
    if format == "json":
        handler.setFormatter(_JsonFormatter())
    else:
        handler.setFormatter(
            logging.Formatter("%(asctime)s %(levelname)-7s %(name)s [%(request)s] %(message)s")
        )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Their info lines (every connection, every command) drown ours and may quote what a device says.
    for noisy in ("asyncssh", "pymongo", "tornado.access"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
