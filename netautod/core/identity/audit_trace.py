"""The audit trace of a request: if a request recorded no event, the base of the handlers records one."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(kw_only=True)
class Trace:
    """The audit trace of one request. `events` counts the events written in it, also by tasks that it
    started.
    """

    events: int = 0


current_trace: ContextVar[Trace | None] = ContextVar("current_trace", default=None)


def note_events(count: int) -> None:
    trace = current_trace.get()
    if trace is not None:
        trace.events += count
