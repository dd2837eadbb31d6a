"""The runs that a dead node has left in the database."""

from collections.abc import Mapping
from typing import Any

from netautod.executions.claims import DeadRun
from netautod.executions.documents import outcome_change, to_execution
from netautod.executions.outcome import Outcome
from netautod.executions.store import COLLECTION
from netautod.store.client import Database, Document


class AftermathStore:
    def __init__(self, database: Database) -> None:
        self._all = database.collection(COLLECTION)

    async def runs_of(self, node_id: str) -> list[DeadRun]:
        """What the node has claimed and not ended."""
        return await self._found({"state": "running", "owner": node_id})

    async def run_since(self, execution_id: str, epoch: int) -> list[DeadRun]:
        """The execution if it runs by a later claim than that; one or none."""
        return await self._found({"_id": execution_id, "state": "running", "epoch": {"$gt": epoch}})

    async def end_claim(self, run: DeadRun, outcome: Outcome) -> bool:
        """running -> what the outcome says; false if the execution was taken or has ended meanwhile."""
        claim = {"_id": run.execution.id, "state": "running", "owner": run.node_id, "epoch": run.epoch}
        return await self._all.update(claim, [{"$set": outcome_change(outcome)}])

    async def _found(self, where: Mapping[str, Any]) -> list[DeadRun]:
        return [_to_run(row) for row in await self._all.find(where)]


def _to_run(row: Document) -> DeadRun:
    return DeadRun(
        execution=to_execution(row),
        idempotent=bool(row.get("idempotent")),
        node_id=row["owner"],
        epoch=row["epoch"],
        lease_until=row["lease_until"],
    )
