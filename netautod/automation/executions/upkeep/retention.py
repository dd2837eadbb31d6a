"""Deletes old executions with their logs and results; the last success and failure of a task stay."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.executions.transitions import State
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.registries import Followers
from netautod.core.settings.retention import RetentionSettings

logger = logging.getLogger(__name__)
BATCH = 500
SUCCEEDED: Final[tuple[State, ...]] = ("completed",)
FAILED: Final[tuple[State, ...]] = ("failed", "timeout")


class ExecutionRetention:
    """A service that deletes old executions.

    Followers of `deleted` drop what else belongs to an execution.
    """

    def __init__(
        self,
        *,
        executions: ExecutionStore,
        logs: ExecutionLogStore,
        results: DeviceResultStore,
        clock: Clock,
        settings: RetentionSettings,
    ) -> None:
        self.deleted = Followers()
        self._executions = executions
        self._logs = logs
        self._results = results
        self._clock = clock
        self._settings = settings

    async def sweep(self) -> int:
        """Make one pass; return how many executions it deleted.

        Two passes at the same time do no harm.
        """
        deleted = await self._clean_old() + await self._clean_many()
        if deleted:
            logger.info("%d old executions deleted", deleted)
        return deleted

    async def _clean_old(self) -> int:
        cutoff = self._clock.now() - timedelta(days=self._settings.execution_days)
        task_ids = await self._executions.tasks_that_ended(cutoff)
        return sum([await self._clean_task(task_id, cutoff) for task_id in task_ids])

    async def _clean_many(self) -> int:
        limit = self._settings.executions_per_task
        deleted = 0
        for task_id in await self._executions.tasks_with_more_than(limit):
            oldest_kept = await self._executions.creation_of_newest(task_id, limit)
            if oldest_kept is not None:
                deleted += await self._clean_task(task_id, oldest_kept)
        return deleted

    async def _clean_task(self, task_id: str, before: datetime) -> int:
        newest = [await self._executions.newest_in(task_id, states) for states in (SUCCEEDED, FAILED)]
        # An execution without a task is always its own newest: that is no reason to keep it.
        kept = [execution_id for execution_id in newest if execution_id not in (None, task_id)]
        deleted = 0
        while found := await self._executions.ended_of(task_id, before, but=kept, limit=BATCH):
            for org_id in {org_id for org_id, _ in found}:  # one organization, because a task belongs to one
                ids = [execution_id for owner, execution_id in found if owner == org_id]
                deleted += await self._delete(org_id, ids)
        return deleted

    async def _delete(self, org_id: OrgId, ids: Sequence[str]) -> int:
        # The executions go last: if we die before, the next pass finds them and deletes the rest again.
        await self._logs.delete_of(org_id, ids)
        await self._results.delete_of(org_id, ids)
        for execution_id in ids:
            await self.deleted.notify(org_id, execution_id)
        return await self._executions.delete(org_id, ids)
