"""Lines of the log that come again and again: the first as it is, then once a minute how many more.

A database that is away would otherwise fill the log with what a dozen loops on every node say twice a second.
"""

import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TextIO

from netautod.core.logs.lines import EVENT, NO_REQUEST, Belonging

SECONDS = 60.0
# Keys may come from clients (the routes that they request): the oldest makes room, logged with its count.
MOST = 1000
KEY = "repeats"
OURS = ("netautod", "__main__")
# Counters, addresses and names of tasks, by which the lines of asyncio and Tornado differ.
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")


def repeats(key: Hashable) -> dict[str, Any]:
    """Return the `extra=` of a log call whose lines are folded: lines of one logger with the same key count
    as one.
    """
    return {KEY: key}


@dataclass(kw_only=True)
class _Folded:
    record: logging.LogRecord
    at: float
    more: int = 0


class FoldingHandler(logging.StreamHandler[TextIO]):
    """A log handler that writes a line once and counts its repeats, which it reports once a minute.

    Lines are the same with the same `repeats(...)`, of any level; otherwise warnings and worse with the same
    text, and from loggers of other packages with the same text but for its numbers. A line that belongs to a
    request is not folded unless it has a key: its request id is what people search for. Nor is an event with
    fields of its own.
    """

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._clock = clock
        self._folded: OrderedDict[Hashable, _Folded] = OrderedDict()

    def emit(self, record: logging.LogRecord) -> None:
        self.report_counts()
        if self._is_news(record):
            super().emit(record)

    def _is_news(self, record: logging.LogRecord) -> bool:
        key = _key_of(record)
        if key is None:
            return True
        folded = self._folded.get(key)
        if folded is not None:
            folded.more += 1
            return False
        self._folded[key] = _Folded(record=_without_trace(record), at=self._clock())
        if len(self._folded) > MOST:
            self._report_count(self._folded.popitem(last=False)[1])
        return True

    def report_counts(self) -> None:
        """Report the counts that are a minute old. It is called often, also when nothing is logged."""
        with self._locked():
            now = self._clock()
            while self._folded:
                key, folded = next(iter(self._folded.items()))
                if now - folded.at < SECONDS:
                    return
                del self._folded[key]
                if folded.more:  # else it is over, or will be news again
                    self._report_count(folded)
                    self._folded[key] = _Folded(record=folded.record, at=now)

    def close(self) -> None:
        """Log the counts that were not logged yet, at the end of the process."""
        with self._locked():
            while self._folded:
                self._report_count(self._folded.popitem(last=False)[1])
        super().close()

    def _report_count(self, folded: _Folded) -> None:
        if folded.more:
            text = f"{folded.record.getMessage()} ({_times(folded.more).replace(' ', ' more ')})"
            changed = {"msg": text, "args": None, "created": time.time()}
            super().emit(logging.makeLogRecord({**folded.record.__dict__, **changed}))

    def _locked(self) -> Any:
        assert self.lock is not None  # logging makes it in the constructor
        return self.lock


class Failing:
    """A failure that a loop meets again and again. It logs when the failure begins and when it is over.

    `what` reads on in "<what> since 14 s (5 times)"; other loops with the same text share the lines.
    """

    def __init__(
        self, logger: logging.Logger, what: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._logger = logger
        self._what = what
        self._clock = clock
        self._since = 0.0
        self._times = 0

    def failed(self, text: object) -> None:
        self._logger.warning("%s: %s", self._what, text, extra=self.again("failed"))

    def again(self, kind: str = "raised") -> dict[str, Any]:
        """Count a failure and return the `extra=` of the line that logs it (`logger.exception`)."""
        if not self._times:
            self._since = self._clock()
        self._times += 1
        return repeats((self._what, kind))

    def over(self) -> None:
        """Note a success. It is called after every success and logs a line only after a failure."""
        if self._times:
            failed, seconds = _times(self._times), self._clock() - self._since
            self._times = 0
            text = "%s: it works again (failed %s in %.0f s)"
            self._logger.warning(text, self._what, failed, seconds, extra=repeats((self._what, "over")))


def _times(count: int) -> str:
    return f"{count} {'time' if count == 1 else 'times'}"


def _key_of(record: logging.LogRecord) -> Hashable | None:
    given = getattr(record, KEY, None)
    if given is not None:
        return (record.name, given)
    ours = record.name.split(".")[0].startswith(OURS)
    if record.levelno < logging.WARNING or (ours and _is_somebodys(record)):
        return None
    text = _text(record)
    raised = record.exc_info[1] if record.exc_info else None
    return (
        record.name,
        record.levelno,
        text if ours else _NUMBERS.sub("#", text),
        type(raised),
        None if raised is None else _NUMBERS.sub("#", str(raised)),
    )


def _is_somebodys(record: logging.LogRecord) -> bool:
    return hasattr(record, EVENT) or getattr(record, "belonging", Belonging()).request != NO_REQUEST


def _without_trace(record: logging.LogRecord) -> logging.LogRecord:
    """Return the copy of a record that is kept, without its trace, which would keep alive all that its frames
    hold.
    """
    return logging.makeLogRecord(
        {
            **record.__dict__,
            "msg": _text(record),
            "args": None,
            "exc_info": None,
            "exc_text": None,
            "stack_info": None,
        }
    )


def _text(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # arguments that do not fit: the handler says so when it writes
        return str(record.msg)
