"""What a log line belongs to, and the lines that are events with fields of their own."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

EVENT, FIELDS = "event", "fields"
NOBODY = "-"


class Belonging(NamedTuple):
    """The ids in whose name something is done; empty: there is none, `-` for the request.

    `traceparent` (W3C Trace Context, 3.2) names the span that is under way, where traces are sent.
    """

    request: str = NOBODY
    organization: str = ""
    user: str = ""
    execution: str = ""
    traceparent: str = ""

    def named(self) -> dict[str, str]:
        """Those that there are, by their names in the log."""
        named = {
            "request": "" if self.request == NOBODY else self.request,
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
    """For `extra=` of a log call: an event with its fields, which are JSON values and hold no secrets.

    Each is a line of its own, however often it repeats itself. `netautod help metrics-and-alerts` lists the
    fields.
    """
    return {EVENT: name, FIELDS: fields}
