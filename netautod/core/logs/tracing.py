"""Spans of what is traced: requests, executions, sessions with devices.

Without a tracer, which is the default, nothing is made: whoever begins spans has None instead.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Protocol

Kind = Literal["server", "consumer", "client"]
Value = str | int | float | bool


class Span(Protocol):
    """Something that takes its time; `traceparent` names it to those that are part of it."""

    @property
    def traceparent(self) -> str: ...

    def note(self, attributes: Mapping[str, Value]) -> None:
        """Ids, names and numbers; never what a client or a device has sent as content."""
        ...

    def end(self, *, error: str = "") -> None:
        """`error`: the kind of a failure, a word without details; empty: there was none. Only the first
        call counts."""
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
        """`parent`: the `traceparent` of the span that it is part of; `headers`: those of a request, which
        may name one of the client's; a malformed one is as good as none."""
        ...


@contextmanager
def spanned(
    tracer: Tracer | None, name: str, kind: Kind, attributes: Mapping[str, Value], *, parent: str
) -> Iterator[Span | None]:
    """A span for the block; what the block raises is its failure, unless it has been ended with another."""
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
