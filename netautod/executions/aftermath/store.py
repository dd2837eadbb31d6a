"""The runs that a dead node has left in the database."""

from netautod.executions.aftermath.models import Blocked
from netautod.executions.claims import DeadRun
from netautod.executions.documents import blocked_change, dead_change, to_execution
from netautod.executions.models import Execution
from netautod.executions.outcome import Outcome
from netautod.executions.store import COLLECTION
from netautod.executions.transitions import ACTIVE
from netautod.store.client import Database, Document, Filter


class AftermathStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)

    async def runs_of(self, node_id: str) -> list[DeadRun]:
        """What the node has claimed and not ended."""
        return [_to_run(row) for row in await self._all.find({"state": "running", "owner": node_id})]

    async def end_claim(self, run: DeadRun, outcome: Outcome) -> Execution | None:
        """running -> what the outcome says; None if the execution was taken or has ended meanwhile."""
        claim = {"_id": run.execution.id, "state": "running", "owner": run.node_id, "epoch": run.epoch}
        return await self._changed(claim, dead_change(outcome))

    async def fail(self, blocked: Blocked, node_id: str) -> Execution | None:
        """active -> failed, whatever has become of it since it blocked that node; None if it has ended."""
        active = {
            "_id": blocked.execution_id,
            "state": {"$in": list(ACTIVE)},
            "epoch": {"$gte": blocked.epoch},
        }
        return await self._changed(active, blocked_change(blocked.text, node_id))

    async def _changed(self, where: Filter, change: Document) -> Execution | None:
        row = await self._all.find_and_update(where, [{"$set": change}])
        return to_execution(row) if row else None


def _to_run(row: Document) -> DeadRun:
    return DeadRun(
        execution=to_execution(row),
        idempotent=bool(row.get("idempotent")),
        node_id=row["owner"],
        epoch=row["epoch"],
        lease_until=row["lease_until"],
    )
