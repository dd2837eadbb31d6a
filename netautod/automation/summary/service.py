"""Puts the summary of an organization together; each part is a few reads of indexes, all at the same time."""

import asyncio

from netautod.automation.executions.models import ExecutionTally
from netautod.automation.executions.service import ExecutionService
from netautod.automation.summary.models import Summary
from netautod.automation.system.models import Pause
from netautod.automation.system.service import SystemService
from netautod.automation.tasks.owners.reporting import BlockedTasks
from netautod.core.identity.caller import Caller
from netautod.network.configs.backups.info import BackupInfos
from netautod.network.configs.recent_changes import RecentChanges
from netautod.network.devices.models import DeviceFilter

RUNS = "tasks.operate"


class Summaries:
    def __init__(
        self,
        *,
        backups: BackupInfos,
        executions: ExecutionService,
        blocked: BlockedTasks,
        system: SystemService,
        changes: RecentChanges,
    ) -> None:
        self._backups = backups
        self._executions = executions
        self._blocked = blocked
        self._system = system
        self._changes = changes

    async def of(self, caller: Caller) -> Summary:
        """Build the summary for a caller who holds devices.access; the parts about runs need tasks.operate
        besides.
        """
        backups, (runs, blocked, paused), changes = await asyncio.gather(
            self._backups.counts(caller.org_id, DeviceFilter()),
            self._runs(caller),
            self._changes.of(caller.org_id),
        )
        return Summary(
            backups=backups, runs=runs, blocked_tasks=blocked, paused=paused, recent_changes=changes
        )

    async def _runs(self, caller: Caller) -> tuple[ExecutionTally | None, int | None, Pause | None]:
        if not caller.can(RUNS):
            return None, None, None
        org_id = caller.org_id
        return await asyncio.gather(
            self._executions.tally(org_id), self._blocked.count(org_id), self._system.paused(org_id)
        )
