"""Spans of what is traced: requests, executions, sessions with devices.

Without a tracer, which is the default, nothing is made: code that begins spans has None instead.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Protocol

Kind = Literal["server", "consumer", "client"]
Value = str | int | float | bool


class Span(Protocol):
    """A traced piece of work. `traceparent` names it to the spans that are part of it."""

    @property
    def traceparent(self) -> str: ...

    def note(self, attributes: Mapping[str, Value]) -> None:
        """Add attributes: ids, names and numbers, never content that a client or a device sent."""
        ...

    def end(self, *, error: str = "") -> None:
        """End the span; only the first call counts.

        `error` is the kind of a failure, one word without details; empty if there was none.
        """
        ...


class Tracer(Protocol):
    def begin(
        self,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Value],
        *,
        parent: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Span:
        """Start a span.

        `parent` is the `traceparent` of the span that it is part of. `headers` are those of a request, which
        may name a span of the client; a malformed one is ignored.
        """
        ...


@contextmanager
def spanned(
    tracer: Tracer | None, name: str, kind: Kind, attributes: Mapping[str, Value], *, parent: str
) -> Iterator[Span | None]:
    """Trace the block as a span. What the block raises is its failure, unless the span ended with another
    one.
    """
    if tracer is None:
        yield None
        return
    span = tracer.begin(name, kind, attributes, parent=parent)
    try:
        yield span
    except BaseException as error:
        span.end(error=getattr(error, "kind", type(error).__name__))
        raise
    span.end()
