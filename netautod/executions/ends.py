"""Tells of executions that have ended, whoever ended them: a run, a node that takes over, a person."""

import logging
from collections.abc import Callable

from netautod.core.errors import Unavailable
from netautod.executions.models import Execution
from netautod.executions.store import ExecutionStore
from netautod.executions.transitions import TERMINAL, State
from netautod.plugin_api import FinishedExecution

logger = logging.getLogger(__name__)


class Ends:
    """Not told: what is cancelled because its task was deleted.

    `finished` must return at once and never raise. While it is not `observed`, an end costs nothing.
    """

    def __init__(
        self,
        *,
        store: ExecutionStore,
        finished: Callable[[FinishedExecution], None],
        observed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store = store
        self._finished = finished
        self._observed = observed

    async def tell(self, execution: Execution, state: State, error_message: str | None) -> None:
        """After the move to `state` is stored; nothing is told of one that is not the end."""
        if state not in TERMINAL or not self._observed():
            return
        self._finished(
            FinishedExecution(
                id=execution.id,
                org_id=execution.org_id,
                task_id=execution.task_id,
                task_name=execution.task_name,
                task_type=execution.task_type,
                state=state,
                error_message=error_message,
                recovered=state == "completed" and await self._failed_before(execution),
            )
        )

    async def _failed_before(self, execution: Execution) -> bool:
        try:
            before = await self._store.last_finished(execution.task_id, but=execution.id)
        except Unavailable as error:
            logger.warning("whether task %s has recovered is not known: %s", execution.task_id, error)
            return False
        return before in ("failed", "timeout")
