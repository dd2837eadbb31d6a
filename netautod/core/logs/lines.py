"""The ids that a log line belongs to, and log lines that are events with fields of their own."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

EVENT, FIELDS = "event", "fields"
NO_REQUEST = "-"


class Belonging(NamedTuple):
    """The ids in whose name something is done; empty: there is none, `-` for the request.

    `traceparent` (W3C Trace Context, 3.2) names the span that is under way, where traces are sent.
    """

    request: str = NO_REQUEST
    organization: str = ""
    user: str = ""
    execution: str = ""
    traceparent: str = ""

    def named(self) -> dict[str, str]:
        """Return the ids that are set, by their names in the log."""
        named = {
            "request": "" if self.request == NO_REQUEST else self.request,
            "organization": self.organization,
            "user": self.user,
            "execution": self.execution,
            "trace_id": self.traceparent[3:35],
            "span_id": self.traceparent[36:52],
        }
        return {name: value for name, value in named.items() if value}


NOTHING = Belonging()
current: ContextVar[Belonging] = ContextVar("belonging", default=NOTHING)
"""Set where requests and runs begin: what they start, and all that this logs, is theirs."""


def event(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `extra=` of a log call for an event with fields, which are JSON values and hold no secrets.

    Each event is a line of its own, however often it repeats. The manual lists the fields (`netautod help
    metrics-and-alerts`).
    """
    return {EVENT: name, FIELDS: fields}
