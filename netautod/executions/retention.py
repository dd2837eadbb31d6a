"""Deletes old executions with their logs and results; the last success and failure of a task stay."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from netautod.core.clock import Clock
from netautod.core.identity import OrgId
from netautod.core.registries import Followers
from netautod.core.retention import RetentionSettings
from netautod.executions import log, results
from netautod.executions.store import COLLECTION
from netautod.executions.transitions import TERMINAL
from netautod.store.client import Database, Filter
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)
LEASE = "retention:executions"
BATCH = 500
FAILED = ("failed", "timeout")


class Retention:
    """One node at a time cleans up; the others find the lease taken and wait for the next interval.

    `deleted`: who drops what belongs to an execution. `sweeps` are the clean-ups of other resources, done
    after this one.
    """

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        leases: NamedLeases,
        settings: RetentionSettings,
        sweeps: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        self.deleted = Followers()
        self._sweeps = sweeps
        self._executions = database.collection(COLLECTION)
        self._logs = database.collection(log.COLLECTION)
        self._results = database.collection(results.COLLECTION)
        self._clock = clock
        self._settings = settings
        self._loop = Periodic(
            self._sweep_all,
            name="retention of executions",
            seconds=settings.interval_seconds,
            lease=LEASE,
            leases=leases,
        )

    async def __aenter__(self) -> "Retention":
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()

    async def _sweep_all(self) -> None:
        await self.clean()
        for sweep in self._sweeps:
            await sweep()

    async def clean(self) -> int:
        """One pass; answers how many executions it deleted. Doing it twice at once does no harm."""
        deleted = await self._clean_old() + await self._clean_many()
        if deleted:
            logger.info("%d old executions deleted", deleted)
        return deleted

    async def _clean_old(self) -> int:
        cutoff = self._clock.now() - timedelta(days=self._settings.execution_days)
        old = {"state": {"$in": list(TERMINAL)}, "created_at": {"$lt": cutoff}}
        return sum([await self._clean_task(task_id, old) for task_id in await self._tasks_with(old)])

    async def _clean_many(self) -> int:
        limit = self._settings.executions_per_task
        crowded = await self._executions.aggregate(
            [
                {"$group": {"_id": "$task_id", "count": {"$sum": 1}}},
                {"$match": {"count": {"$gt": limit}}},
            ]
        )
        deleted = 0
        for group in crowded:
            oldest_kept = await self._executions.find(
                {"task_id": group["_id"]},
                fields={"created_at": 1},
                sort=[("created_at", -1), ("_id", 1)],
                offset=limit - 1,
                limit=1,
            )
            if oldest_kept:
                before = {"$lt": oldest_kept[0]["created_at"]}
                beyond = {"state": {"$in": list(TERMINAL)}, "created_at": before}
                deleted += await self._clean_task(group["_id"], beyond)
        return deleted

    async def _tasks_with(self, where: Filter) -> list[str]:
        return [str(task_id) for task_id in await self._executions.distinct("task_id", where)]

    async def _clean_task(self, task_id: str, where: Filter) -> int:
        kept = [await self._newest(task_id, ("completed",)), await self._newest(task_id, FAILED)]
        deleted = 0
        while True:
            rows = await self._executions.find(
                {**where, "task_id": task_id, "_id": {"$nin": kept}}, fields={"org_id": 1}, limit=BATCH
            )
            if not rows:
                return deleted
            ids = [row["_id"] for row in rows]
            # The execution goes last: if we die before, the next pass finds it and deletes the rest again.
            await self._logs.delete_many({"execution_id": {"$in": ids}})
            await self._results.delete_many({"execution_id": {"$in": ids}})
            for row in rows:
                await self.deleted.notify(OrgId(row["org_id"]), row["_id"])
            deleted += await self._executions.delete_many({"_id": {"$in": ids}})

    async def _newest(self, task_id: str, states: tuple[str, ...]) -> str | None:
        row = await self._executions.find_one(
            {"task_id": task_id, "state": {"$in": list(states)}},
            fields={"_id": 1},
            sort=[("created_at", -1), ("_id", 1)],
        )
        return row["_id"] if row else None
