"""Notifies observers of every execution that ends, whether a run, another node or a person ended it."""

import logging
from typing import Protocol

from netautod.automation.executions.logs.attempt_log import BAD, log_attempt_end
from netautod.automation.executions.models import Execution
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.executions.transitions import TERMINAL, State
from netautod.core.clock import Clock, SystemClock
from netautod.core.errors import Unavailable
from netautod.core.logs.folding import repeats
from netautod.plugin_api import FinishedExecution

logger = logging.getLogger(__name__)
HOOK = "netautod_execution_finished"


class ExecutionObservers(Protocol):
    """The observers that plugins register."""

    def wanted(self, hook: str) -> bool:
        """Return whether any plugin observes this hook."""
        ...

    def execution_finished(self, execution: FinishedExecution) -> None:
        """Notify the observers; returns at once and never raises."""
        ...


class FinishNotifier:
    """A notifier of the observers of finished executions.

    It does not report executions that are cancelled because their task was deleted. Without an observer of
    the hook a notification costs nothing.
    """

    def __init__(
        self, *, store: ExecutionStore, observers: ExecutionObservers, clock: Clock | None = None
    ) -> None:
        self._clock = clock or SystemClock()
        self._store = store
        self._observers = observers

    async def notify(self, execution: Execution, state: State, error_message: str | None) -> None:
        """Log the end of an attempt, and notify the observers if the execution has ended.

        Call it after the move to `state` is stored.
        """
        log_attempt_end(execution, state, error_message, now=self._clock.now())
        if state not in TERMINAL or not self._observers.wanted(HOOK):
            return
        recovered = state == "completed" and await self._failed_before(execution)
        self._observers.execution_finished(
            finished(execution, state=state, error_message=error_message, recovered=recovered)
        )

    async def _failed_before(self, execution: Execution) -> bool:
        try:
            before = await self._store.last_finished(execution.org_id, execution.task_id, but=execution.id)
        except Unavailable as error:
            text = "cannot read whether task %s has recovered: %s"
            logger.warning(text, execution.task_id, error, extra=repeats("recovered"))
            return False
        return before in BAD


def finished(
    execution: Execution, *, state: State, error_message: str | None, recovered: bool
) -> FinishedExecution:
    """Build the value that observers and webhooks get of a finished execution."""
    return FinishedExecution(
        id=execution.id,
        org_id=execution.org_id,
        task_id=execution.of_task,
        task_name=execution.task_name,
        task_type=execution.task_type,
        state=state,
        error_message=error_message,
        recovered=recovered,
    )
