"""Per-device results of an execution, in their own collection: they survive retries and dead nodes."""

from dataclasses import asdict
from typing import Any

from netautod.core.identity import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work import Work
from netautod.plugin_api import DeviceResult, ResultTotals
from netautod.store.batching import gathered_changes
from netautod.store.client import Database, Document, Duplicate
from netautod.store.indexes import Index

COLLECTION = "execution_results"
INDEXES = (
    Index(
        collection=COLLECTION,
        keys=(("execution_id", 1), ("success", 1), ("device_name", 1), ("_id", 1)),
    ),
)
FAILURES_FIRST = [("success", 1), ("device_name", 1), ("_id", 1)]
_FIELDS = tuple(DeviceResult.__dataclass_fields__)


class ResultStore:
    def __init__(self, database: Database) -> None:
        self._results = database.scoped(COLLECTION)
        self._upserts = gathered_changes(self._results, upsert=True)

    async def record(self, work: Work, execution_id: str, epoch: int, result: DeviceResult) -> None:
        """Replaces the device's earlier result, unless that came from a later claim of the execution.

        It is written together with others of the next 30 ms.
        """
        row_id = f"{execution_id}:{result.device_id}"
        change = {**asdict(result), "execution_id": execution_id, "epoch": epoch}
        try:
            where = {"_id": row_id, "epoch": {"$lte": epoch}}
            await self._upserts.ask(work.org_id, (where, {"$set": change}), work)
        except Duplicate:
            return  # a later claim has written it: ours is stale

    async def settled(self, org_id: OrgId, execution_id: str) -> frozenset[str]:
        found = await self._results.find(
            org_id,
            {"execution_id": execution_id, "$or": [{"success": True}, {"final": True}]},
            fields={"device_id": 1},
        )
        return frozenset(document["device_id"] for document in found)

    async def totals(self, org_id: OrgId, execution_id: str) -> ResultTotals:
        groups = await self._results.aggregate(
            org_id,
            [
                {"$match": {"execution_id": execution_id}},
                {
                    "$group": {
                        "_id": {"success": "$success", "changed": "$changed"},
                        "count": {"$sum": 1},
                    }
                },
            ],
        )

        def count(**wanted: Any) -> int:
            return sum(
                group["count"]
                for group in groups
                if all(group["_id"].get(key) == value for key, value in wanted.items())
            )

        return ResultTotals(
            devices_total=count(),
            succeeded=count(success=True),
            failed=count(success=False),
            changed=count(success=True, changed=True),
            unchanged=count(success=True, changed=False),
        )

    async def page(
        self, org_id: OrgId, execution_id: str, page: Page, *, success: bool | None = None
    ) -> PageOf[DeviceResult]:
        """Failures first, then by device name."""
        where: Document = {"execution_id": execution_id}
        if success is not None:
            where["success"] = success
        total = await self._results.count(org_id, where)
        found = await self._results.find(
            org_id, where, sort=FAILURES_FIRST, limit=page.limit, offset=page.offset
        )
        return PageOf(items=[_to_result(document) for document in found], total=total, page=page)


class RunResults:
    """The `results` of a run context: one execution's, guarded by its lease."""

    def __init__(self, *, store: ResultStore, work: Work, execution_id: str, epoch: int) -> None:
        self._store = store
        self._work = work
        self._execution_id = execution_id
        self._epoch = epoch

    async def record(self, result: DeviceResult) -> None:
        self._work.guard()
        await self._store.record(self._work, self._execution_id, self._epoch, result)

    async def settled(self) -> frozenset[str]:
        return await self._store.settled(self._work.org_id, self._execution_id)

    async def totals(self) -> ResultTotals:
        return await self._store.totals(self._work.org_id, self._execution_id)


def _to_result(document: Document) -> DeviceResult:
    return DeviceResult(**{name: document.get(name) for name in _FIELDS})  # type: ignore[arg-type]


def result_to_json(result: DeviceResult) -> dict[str, Any]:
    shown = asdict(result)
    for internal in ("config_id", "final"):
        del shown[internal]
    return shown
