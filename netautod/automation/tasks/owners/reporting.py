"""Reports each blocked task once: in the log, in the audit, and to the webhooks that want it.

What blocks a task is a change of its owner, which knows nothing of tasks. So a search finds the blocked ones
that were not reported; it is made when this node changes a user, and now and then for what other nodes and
directories have changed. The effort depends on the number of owners, not of tasks.
"""

import logging
from collections.abc import Collection, Sequence
from typing import Protocol

from netautod.activity.audit.service import AuditLog
from netautod.automation.tasks.owners.models import TaskBlocked, UnreportedBlock
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.automation.tasks.owners.store import TaskOwnerStore
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId, system_caller

logger = logging.getLogger(__name__)
AT_ONCE = 200
ACTION = "task_blocked"


class Leaving(Protocol):
    async def __call__(self) -> Collection[OrgId]:
        """Return the organizations that are being deleted: nobody reads what is reported there."""
        ...


class BlockedTasks:
    """A count of the blocked tasks, and a search for those that were not reported."""

    def __init__(
        self,
        *,
        store: TaskOwnerStore,
        owners: TaskOwners,
        leaving: Leaving,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._leaving = leaving
        self._store = store
        self._owners = owners
        self._audit = audit
        self._clock = clock

    async def owners(self, org_id: OrgId) -> list[str]:
        """Return the owners of blocked tasks of the organization."""
        return list(await self._owners.block_reasons(await self._store.owners(org_id)))

    async def count(self, org_id: OrgId) -> int:
        """Count the blocked tasks of the organization, disabled ones too."""
        return await self._store.count(org_id, await self.owners(org_id))

    async def look(self) -> int:
        """Search until nothing is left; return how many tasks were reported.

        Two nodes may do it at the same time: one of them reports a task. The owners are read anew: another
        node may have changed them within the second for which they are kept.
        """
        owners = await self._store.all_owners()
        self._owners.forget()
        reasons = await self._owners.block_reasons(owners)
        await self._clear([one for one in owners if one not in reasons])
        reported, blocked = 0, sorted(reasons)
        without = await self._leaving() if blocked else ()
        while found := await self._store.unreported(blocked, limit=AT_ONCE, without=without):
            for one in found:
                reported += await self._report(one, reasons[one.owner_id])
        return reported

    async def _clear(self, active: Sequence[str]) -> None:
        """Forget the reports of tasks whose owners are active again.

        Another node may report a task after `active` was read. So the reports are read first and the owners
        then: only a report from before a moment at which its owner was active is forgotten.
        """
        reports = await self._store.reports(active)
        if reports:
            self._owners.forget()
            blocked = await self._owners.block_reasons(one.owner_id for one in reports)
            await self._store.clear([one for one in reports if one.owner_id not in blocked])

    async def _report(self, block: UnreportedBlock, reason: str) -> bool:
        event = TaskBlocked(
            org_id=block.org_id,
            task_id=block.task_id,
            task_name=block.task_name,
            owner_id=block.owner_id,
            reason=reason,
        )
        # If we die behind this write, the audit misses the event, as it may miss any; webhooks get it.
        if not await self._store.take(event, at=self._clock.now()):
            return False
        logger.warning("task %s (%s) is blocked: %s", block.task_name, block.task_id, reason)
        details = {"name": block.task_name, "owner_id": block.owner_id, "reason": reason}
        caller = system_caller(block.org_id, "scheduler")
        await self._audit.record(caller, ACTION, "task", block.task_id, details)
        return True
