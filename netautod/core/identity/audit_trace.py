"""Whether a request has left a trace: if none, the handlers' base sees it and makes up for it."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(kw_only=True)
class Trace:
    """Of one request. `events` of the audit were written in it, also by tasks that it began."""

    events: int = 0


current_trace: ContextVar[Trace | None] = ContextVar("current_trace", default=None)


def note_events(count: int) -> None:
    trace = current_trace.get()
    if trace is not None:
        trace.events += count
