"""The end of an attempt and what it makes of the execution; pure. The store writes it."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from netautod.automation.executions.models import Execution
from netautod.automation.executions.transitions import State
from netautod.core.errors import Forbidden, InvalidInput, NetautodError, NotFound
from netautod.core.json import values as json_values
from netautod.plugin_api.executors.contract import ExecutionFailed, NeedsApproval, PermanentFailure
from netautod.transport.ssh.failures import DeviceFailed

MAX_OUTPUT = 4 * 1024 * 1024
MAX_RESUME = 1024 * 1024
UNEXPECTED = "the executor failed unexpectedly; the service log has the details"
NODE_LOST = "node lost"
UNKNOWN = "outcome unknown"
INTERRUPTED = "the database did not answer for too long: the run was stopped and is not begun again"


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A terminal state.

    An `output` of None keeps the one that an earlier attempt left.
    """

    state: State
    error_message: str | None
    output: Any = None


@dataclass(frozen=True, kw_only=True)
class Retried:
    """A move back to pending, as one more retry.

    `attempt` is the outcome of the attempt itself.
    """

    state: ClassVar[State] = "pending"
    error_message: str
    delay_seconds: float
    attempt: Literal["failed", "lost"]
    output: Any = None


@dataclass(frozen=True, kw_only=True)
class HandedBack:
    """A move back to pending by a node that cannot continue.

    It is no retry, and the next node may start at once.
    """

    state: ClassVar[State] = "pending"
    error_message: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class Parked:
    """A wait for an approval of `expires_seconds`.

    `resume` is the executor's own state, a JSON value.
    """

    state: ClassVar[State] = "approval_pending"
    error_message: ClassVar[None] = None
    request: dict[str, Any]
    resume: Any
    expires_seconds: float
    by_others: bool = False


@dataclass(frozen=True, kw_only=True)
class NeverStarted:
    """A cancellation between the claim and the start: the task is gone or disabled by now."""

    state: ClassVar[State] = "cancelled"
    error_message: str


Outcome = Finished | Retried | HandedBack | Parked | NeverStarted


def completed(output: Any) -> Finished:
    problem = _unstorable(output, MAX_OUTPUT)
    if problem is not None:
        return failed(f"the executor's output {problem}")
    return Finished(state="completed", output=output, error_message=None)


def failed(text: str, output: Any = None) -> Finished:
    return Finished(state="failed", output=output, error_message=text)


def timed_out(execution: Execution, *, unclear: bool = False) -> Finished:
    text = f"the run took longer than {execution.timeout_seconds} seconds"
    return Finished(state="timeout", error_message=_known(text, unclear=unclear))


def stopped(*, idempotent: bool, unclear: bool = False) -> Outcome:
    """Return the outcome of a run that a stopping node can wait for no longer.

    `unclear`: the run is in the middle of a change.
    """
    return HandedBack() if idempotent else failed(_known("the node was stopped", unclear=unclear))


def interrupted(*, repeatable: bool, unclear: bool = False) -> Outcome:
    """Return the outcome of a run that was stopped because the database was silent for too long."""
    return HandedBack() if repeatable else failed(_known(INTERRUPTED, unclear=unclear))


def lost(execution: Execution, *, idempotent: bool) -> Outcome:
    """Return the outcome of a run whose node died.

    It runs again if the executor is idempotent and retries are left.
    """
    if not idempotent or not _retries_left(execution):
        return failed(_known(NODE_LOST, unclear=execution.unclear is True))
    return Retried(error_message=NODE_LOST, delay_seconds=0, attempt="lost")


def raised(
    execution: Execution, error: BaseException, *, approval_seconds: float, repeatable: bool = True
) -> Outcome:
    """Return the outcome of an exception of the executor (the contract is in plugin_api.Executor).

    Without `repeatable` no failure is retried: the run has done what must not be done twice.
    """
    ended = _meant(execution, error, approval_seconds=approval_seconds)
    if isinstance(ended, Retried) and not repeatable:
        return failed(ended.error_message, ended.output)
    return ended


def _meant(execution: Execution, error: BaseException, *, approval_seconds: float) -> Outcome:
    if isinstance(error, NeedsApproval):
        return _parked(error, approval_seconds)
    if isinstance(error, PermanentFailure):
        return failed(error.text, _storable(error.output))
    if isinstance(error, DeviceFailed):
        return failed(error.text) if error.final else _retry(execution, error.text)
    if isinstance(error, ExecutionFailed):
        return _retry(execution, error.text, _storable(error.output))
    if isinstance(error, Forbidden | InvalidInput | NotFound):
        return failed(error.text)
    if isinstance(error, NetautodError):
        return _retry(execution, error.text)
    return _retry(execution, UNEXPECTED)


def _known(text: str, *, unclear: bool) -> str:
    """Return the error of a run that was ended from outside, perhaps in the middle of a change."""
    return f"{UNKNOWN}: {text}" if unclear else text


def _retries_left(execution: Execution) -> bool:
    return execution.retry_count < execution.max_retries


def _retry(execution: Execution, text: str, output: Any = None) -> Outcome:
    if not _retries_left(execution):
        return failed(text, output)
    delay = execution.retry_delay_seconds
    return Retried(error_message=text, output=output, delay_seconds=delay, attempt="failed")


def _parked(error: NeedsApproval, approval_seconds: float) -> Outcome:
    request = dict(error.request)
    problem = _unstorable(request, MAX_RESUME) or _unstorable(error.state, MAX_RESUME)
    if problem is not None:
        return failed(f"the executor's saved state {problem}")
    return Parked(
        request=request,
        resume=error.state,
        expires_seconds=approval_seconds,
        by_others=error.by_others,
    )


def _storable(output: Any) -> Any:
    """Return the output beside a failure, or None if it cannot be stored: it must not hide the failure."""
    return None if _unstorable(output, MAX_OUTPUT) else output


def _unstorable(value: Any, limit: int) -> str | None:
    try:
        json_values.check(value)
        size = len(json_values.encode(value))
    except (InvalidInput, TypeError, ValueError) as error:
        return f"is not a JSON value: {error}"
    return f"is larger than {limit} bytes" if size > limit else None
