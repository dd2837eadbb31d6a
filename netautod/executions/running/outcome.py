"""How an attempt ended, and what that makes of its execution; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netautod.core import json_values
from netautod.core.errors import Forbidden, InvalidInput, NetautodError, NotFound
from netautod.executions.models import Execution
from netautod.executions.store import finish_change, park_change, retry_change
from netautod.executions.transitions import State
from netautod.plugin_api import DeviceFailed, ExecutionFailed, NeedsApproval, PermanentFailure

MAX_OUTPUT = 4 * 1024 * 1024
MAX_RESUME = 1024 * 1024
UNEXPECTED = "the executor failed unexpectedly; the service log has the details"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The state to move to, and the change of the row that does it."""

    state: State
    change: Mapping[str, Any]
    error_message: str | None


def completed(output: Any) -> Outcome:
    problem = _unstorable(output, MAX_OUTPUT)
    if problem is not None:
        return failed(f"the executor's output {problem}", None)
    return _finish("completed", output, None)


def failed(text: str, output: Any) -> Outcome:
    return _finish("failed", output, text)


def timed_out(execution: Execution) -> Outcome:
    return _finish("timeout", None, f"the run took longer than {execution.timeout_seconds} seconds")


def handed_back() -> Outcome:
    """By a node that stops: not a retry, and the next node may start at once."""
    change = retry_change(None, output=None, delay_seconds=0, outcome="returned", counted=False)
    return Outcome(state="pending", change=change, error_message=None)


def unwanted(reason: str) -> Outcome:
    """A claimed run whose task is gone or disabled by now: it never started."""
    change = finish_change("cancelled", output=None, error_message=reason)
    change |= {"started_at": None, "attempts": "$attempts"}
    return Outcome(state="cancelled", change=change, error_message=reason)


def lost(execution: Execution, *, idempotent: bool) -> Outcome:
    """The node of the run died: taken up again if that is harmless and retries are left."""
    text = "node lost"
    if not idempotent or execution.retry_count >= execution.max_retries:
        return Outcome(
            state="failed",
            change=finish_change("failed", output=None, error_message=text),
            error_message=text,
        )
    change = retry_change(text, output=None, delay_seconds=0, outcome="lost", counted=True)
    return Outcome(state="pending", change=change, error_message=text)


def raised(execution: Execution, error: BaseException, *, approval_seconds: float) -> Outcome:
    """What an exception of the executor means (the contract in plugin_api.Executor)."""
    if isinstance(error, NeedsApproval):
        return _parked(error, approval_seconds)
    if isinstance(error, PermanentFailure):
        return failed(error.text, _kept(error.output))
    if isinstance(error, DeviceFailed):
        return failed(error.text, None) if error.final else _retry(execution, error.text, None)
    if isinstance(error, ExecutionFailed):
        return _retry(execution, error.text, _kept(error.output))
    if isinstance(error, Forbidden | InvalidInput | NotFound):
        return failed(error.text, None)
    if isinstance(error, NetautodError):
        return _retry(execution, error.text, None)
    return _retry(execution, UNEXPECTED, None)


def _retry(execution: Execution, text: str, output: Any) -> Outcome:
    if execution.retry_count >= execution.max_retries:
        return failed(text, output)
    change = retry_change(
        text, output=output, delay_seconds=execution.retry_delay_seconds, outcome="failed", counted=True
    )
    return Outcome(state="pending", change=change, error_message=text)


def _parked(error: NeedsApproval, approval_seconds: float) -> Outcome:
    problem = _unstorable(dict(error.request), MAX_RESUME) or _unstorable(error.state, MAX_RESUME)
    if problem is not None:
        return failed(f"the executor's saved state {problem}", None)
    return Outcome(
        state="approval_pending",
        change=park_change(error.request, error.state, approval_seconds),
        error_message=None,
    )


def _finish(state: State, output: Any, text: str | None) -> Outcome:
    change = finish_change(state, output=output, error_message=text)
    return Outcome(state=state, change=change, error_message=text)


def _kept(output: Any) -> Any:
    """Output beside a failure: dropped rather than hiding the failure."""
    return None if _unstorable(output, MAX_OUTPUT) else output


def _unstorable(value: Any, limit: int) -> str | None:
    try:
        json_values.check(value)
        size = len(json_values.encode(value))
    except (InvalidInput, TypeError, ValueError) as error:
        return f"is not a JSON value: {error}"
    return f"is larger than {limit} bytes" if size > limit else None
