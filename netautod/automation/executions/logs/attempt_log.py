"""The service's log line about an attempt that has ended."""

import logging
from datetime import datetime

from netautod.automation.executions.models import Execution
from netautod.automation.executions.transitions import State
from netautod.core.logs.lines import current, event
from netautod.secrets.redaction.patterns import without_secret_patterns

logger = logging.getLogger(__name__)
EXECUTION = "execution"
BAD: frozenset[State] = frozenset({"failed", "timeout"})


def log_attempt_end(execution: Execution, state: State, error_message: str | None, *, now: datetime) -> None:
    """Log that an attempt has ended.

    `state` is the state of the execution now: `pending` if it is retried or handed back. The field `seconds`
    is the duration of the last attempt, None if there was none.
    """
    attempts = execution.attempts
    seconds = (now - attempts[-1].started_at).total_seconds() if attempts else None
    error = without_secret_patterns(error_message or "")
    fields = {
        "task": execution.of_task,
        "task_name": execution.task_name,
        "task_type": execution.task_type,
        "triggered_by": execution.triggered_by,
        "state": state,
        "attempt": len(attempts),
        "seconds": seconds,
        "error": error,
    }
    belonging = current.get()._replace(
        organization=execution.org_id, user=execution.owner_id, execution=execution.id
    )
    token = current.set(belonging)
    try:
        level = logging.WARNING if state in BAD else logging.INFO
        text = "execution of task %r (%s), attempt %d: %s%s"
        after = f": {error}" if error else ""
        named = (execution.task_name, execution.task_type, len(attempts), state, after)
        logger.log(level, text, *named, extra=event(EXECUTION, fields))
    finally:
        current.reset(token)
