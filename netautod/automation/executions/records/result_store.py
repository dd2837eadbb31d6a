"""The results of devices in MongoDB: the collection `execution_results`; they outlive attempts and nodes."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from netautod.automation.executions.models import ResultCounts
from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work.context import Work
from netautod.plugin_api import DeviceResult, ResultTotals
from netautod.store.batching import batched_changes
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "execution_results"
INDEXES = (
    Index(
        collection=COLLECTION,
        keys=(("execution_id", 1), ("success", 1), ("device_name", 1), ("_id", 1)),
    ),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("device_id", 1), ("execution_id", 1))),
)
UNKNOWN_KIND = "unknown"  # of failures whose executor has named no kind
# Runs of one device are kept for 90 days and 200 of each task: more than that means hundreds of tasks.
MOST_OF_DEVICE = 20_000
FAILURES_FIRST = [("success", 1), ("device_name", 1), ("_id", 1)]
_FIELDS = tuple(DeviceResult.__dataclass_fields__)
# The hash of the text as shown to those who see no secrets. Earlier releases stored one that tells of secrets
# under the name of the field: it is not read any more.
_SHOWN_HASH = "shown_hash"
_SHOWN_RULES = "shown_rules"  # by which that text was redacted


class DeviceResultStore:
    """A store of results. `rules` names the rules of redaction in force, as that of configs has them."""

    def __init__(self, database: Database) -> None:
        self.rules = ""
        self._results = scoped(database, COLLECTION)
        self._upserts = batched_changes(self._results, upsert=True)

    async def record(self, work: Work, execution_id: str, epoch: int, result: DeviceResult) -> None:
        """Replace the device's earlier result, unless that came from a later claim of the execution.

        It is written together with the other results of the next 30 ms.
        """
        row_id = f"{execution_id}:{result.device_id}"
        change = {**asdict(result), "execution_id": execution_id, "epoch": epoch}
        change[_SHOWN_HASH], change[_SHOWN_RULES] = change.pop("config_hash") or None, self.rules
        try:
            where = {"_id": row_id, "epoch": {"$lte": epoch}}
            await self._upserts.ask(work.org_id, (where, {"$set": change}), work)
        except Duplicate:
            return  # a later claim has written it: this result is stale

    async def settled(self, org_id: OrgId, execution_id: str) -> frozenset[str]:
        """Return the ids of the devices that need no further visit: they succeeded or failed for good."""
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

    async def counts(self, org_id: OrgId, execution_id: str) -> ResultCounts:
        kind = {"$cond": ["$success", None, {"$ifNull": ["$error_kind", UNKNOWN_KIND]}]}
        groups = await self._results.aggregate(
            org_id,
            [{"$match": {"execution_id": execution_id}}, {"$group": {"_id": kind, "count": {"$sum": 1}}}],
        )
        by_kind = {group["_id"]: group["count"] for group in groups}
        succeeded = by_kind.pop(None, 0)
        return ResultCounts(
            succeeded=succeeded,
            failed=sum(by_kind.values()),
            by_kind=dict(sorted(by_kind.items(), key=lambda item: (-item[1], item[0]))),
        )

    async def failed(self, org_id: OrgId, execution_id: str) -> list[str]:
        """Return the ids of the devices that failed."""
        found = await self._results.find(
            org_id, {"execution_id": execution_id, "success": False}, fields={"device_id": 1}
        )
        return [document["device_id"] for document in found]

    async def of_device(self, org_id: OrgId, device_id: str) -> list[str]:
        """Return the ids of the executions that have a result of the device.

        They are read from the index, at most MOST_OF_DEVICE.
        """
        found = await self._results.find(
            org_id, {"device_id": device_id}, fields={"execution_id": 1, "_id": 0}, limit=MOST_OF_DEVICE
        )
        return [document["execution_id"] for document in found]

    async def of_both(
        self, org_id: OrgId, device_id: str, execution_ids: Sequence[str]
    ) -> dict[str, DeviceResult]:
        """Return the results of the device by execution."""
        where = {"device_id": device_id, "execution_id": {"$in": list(execution_ids)}}
        found = await self._results.find(org_id, where)
        return {document["execution_id"]: self._to_result(document) for document in found}

    async def page(
        self,
        org_id: OrgId,
        execution_id: str,
        page: Page,
        *,
        success: bool | None = None,
        error_kind: str | None = None,
    ) -> PageOf[DeviceResult]:
        """Return one page of results, failures first, then by device name."""
        where: Document = {"execution_id": execution_id}
        if success is not None:
            where["success"] = success
        if error_kind is not None:
            where["error_kind"] = None if error_kind == UNKNOWN_KIND else error_kind
            where["$and"] = [{"success": False}]
        total = await self._results.count(org_id, where)
        found = await self._results.find(
            org_id, where, sort=FAILURES_FIRST, limit=page.limit, offset=page.offset
        )
        return PageOf(items=[self._to_result(document) for document in found], total=total, page=page)

    async def delete_of(self, org_id: OrgId, execution_ids: Sequence[str]) -> None:
        await self._results.delete_many(org_id, {"execution_id": {"$in": list(execution_ids)}})

    def _to_result(self, document: Document) -> DeviceResult:
        """Return the result, without the hash of a text that was redacted by other rules."""
        fields = {name: document.get(name) for name in _FIELDS}
        shown_hash = document.get(_SHOWN_HASH) if document.get(_SHOWN_RULES) == self.rules else None
        return DeviceResult(**{**fields, "config_hash": shown_hash})  # type: ignore[arg-type]
