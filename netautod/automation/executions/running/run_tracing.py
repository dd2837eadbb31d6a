"""The log fields and the trace span of an attempt."""

from collections.abc import Iterator
from contextlib import contextmanager

from netautod.automation.executions.logs.attempt_log import BAD
from netautod.automation.executions.models import Execution
from netautod.automation.executions.transitions import State
from netautod.core.logs.lines import Belonging, current
from netautod.core.logs.tracing import Span, Tracer, Value, spanned


@contextmanager
def traced(tracer: Tracer | None, execution: Execution) -> Iterator[Span | None]:
    """Bind log fields and a span to the attempt while the block runs.

    All that its asyncio task starts or logs then belongs to the execution. The span is a child of that of the
    request that started the execution, if there was one.
    """
    attributes: dict[str, Value] = {
        "netautod.organization": execution.org_id,
        "user.id": execution.owner_id,
        "netautod.execution": execution.id,
        "netautod.task": execution.task_id,
        "netautod.task_type": execution.task_type,
        "netautod.triggered_by": execution.triggered_by,
        "netautod.attempt": len(execution.attempts),
    }
    name, parent = f"execution {execution.task_type}", execution.traceparent or ""
    with spanned(tracer, name, "consumer", attributes, parent=parent) as span:
        traceparent = "" if span is None else span.traceparent
        current.set(Belonging("-", execution.org_id, execution.owner_id, execution.id, traceparent))
        yield span


def note_end(span: Span | None, state: State) -> None:
    if span is None:
        return
    span.note({"netautod.state": state})
    if state in BAD:
        span.end(error=state)
