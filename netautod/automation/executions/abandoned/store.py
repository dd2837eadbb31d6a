"""The runs that a dead node has left in the database."""

from netautod.activity.webhooks.names import EXECUTION_FINISHED
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.automation.executions.abandoned.models import Blocked
from netautod.automation.executions.models import Execution
from netautod.automation.executions.records.claims import DeadRun
from netautod.automation.executions.records.documents import (
    blocked_change,
    dead_change,
    to_execution,
    with_undelivered_event,
)
from netautod.automation.executions.records.outcome import Outcome
from netautod.automation.executions.store import COLLECTION
from netautod.automation.executions.transitions import ACTIVE, TERMINAL, State
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document, Filter
from netautod.store.scoped import scoped


class AbandonedRunStore:
    """A store of the runs that a dead node has left.

    `wanted` is the same as in ExecutionStore.
    """

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self._all = database.collection(COLLECTION)
        self._executions = scoped(database, COLLECTION)

    async def runs_of(self, node_id: str) -> list[DeadRun]:
        """List what the node has claimed and not ended."""
        return [_to_run(row) for row in await self._all.find({"state": "running", "owner": node_id})]

    async def end_claim(self, run: DeadRun, outcome: Outcome) -> Execution | None:
        """Move a running execution to the state of the outcome.

        Returns None if another node has claimed it or it has ended meanwhile.
        """
        claim = {
            "_id": run.execution.id,
            "task_id": run.execution.task_id,
            "state": "running",
            "owner": run.node_id,
            "epoch": run.epoch,
        }
        return await self._changed(claim, run.execution.org_id, dead_change(outcome), outcome.state)

    async def fail(self, blocked: Blocked, node_id: str) -> Execution | None:
        """Fail an active execution, whatever has happened to it since it blocked that node.

        Returns None if it has ended.
        """
        active = {
            "_id": blocked.execution_id,
            "state": {"$in": list(ACTIVE)},
            "epoch": {"$gte": blocked.epoch},
        }
        found = await self._all.find_one(active, fields={"org_id": 1})
        if found is None:
            return None
        change = blocked_change(blocked.text, node_id)
        return await self._changed(active, OrgId(found["org_id"]), change, "failed")

    async def _changed(
        self, where: Filter, org_id: OrgId, change: Document, state: State
    ) -> Execution | None:
        if state in TERMINAL and self._wanted(org_id, EXECUTION_FINISHED):
            change = with_undelivered_event(change)
        row = await self._executions.find_and_update(org_id, where, [{"$set": change}])
        return to_execution(row) if row else None


def _to_run(row: Document) -> DeadRun:
    return DeadRun(
        execution=to_execution(row),
        idempotent=bool(row.get("idempotent")),
        node_id=row["owner"],
        epoch=row["epoch"],
        lease_until=row["lease_until"],
    )
