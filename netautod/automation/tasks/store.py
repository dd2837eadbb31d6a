"""Tasks in MongoDB: the collection `tasks`, its indexes and the due scan's two queries."""

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from netautod.automation.tasks.decide import DueTask
from netautod.automation.tasks.models import Task
from netautod.core.errors import Conflict, Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Uses
from netautod.core.schema.bulk_values import made
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "tasks"
NOTHING: Mapping[str, Any] = MappingProxyType({})
INDEXES = (
    Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1)), unique=True),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("task_type", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("enabled", 1), ("next_run_at", 1))),
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("parameters.credential_id", 1)),
        partial={"parameters.credential_id": {"$type": "string"}},
    ),
)


@dataclass(frozen=True, kw_only=True)
class DueRow:
    """A due task with all that its execution copies, and the server's time of the read."""

    task: Task
    now: datetime

    def due(self) -> DueTask:
        return DueTask(
            id=self.task.id,
            cron_expression=self.task.cron_expression,
            timezone=self.task.timezone,
            enabled=self.task.enabled,
            next_run_at=self.task.next_run_at,
        )


class TaskStore:
    def __init__(self, database: Database) -> None:
        self._tasks = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)

    async def insert(self, task: Task) -> None:
        """Insert a task. Raises Conflict if the organization has a task of that name."""
        with _names_are_unique():
            await self._tasks.insert(task.org_id, _to_document(task))

    async def get(self, org_id: OrgId, task_id: str) -> Task | None:
        document = await self._tasks.find_one(org_id, {"_id": task_id})
        return _to_task(document) if document else None

    async def page(
        self, org_id: OrgId, where: Mapping[str, Any], page: Page, *, newest_first: bool = False
    ) -> PageOf[Task]:
        """Return one page of tasks, by name or by creation."""
        order = [("created_at", -1) if newest_first else ("name", 1), ("_id", 1)]
        # Without the hint the server might read the enabled tasks of all organizations.
        index = INDEXES[0].name if "enabled" in where else None
        total = await self._tasks.count(org_id, where, index=index)
        found = await self._tasks.find(
            org_id, where, sort=order, limit=page.limit, offset=page.offset, index=index
        )
        return PageOf(items=[_to_task(document) for document in found], total=total, page=page)

    async def change(
        self, org_id: OrgId, task_id: str, was: Mapping[str, Any], change: Mapping[str, Any]
    ) -> Task | None:
        """Set fields if those of `was` still have these values; return None if not (or the task is gone).

        Raises Conflict if the organization has another task of that name.
        """
        where = {"_id": task_id, **was}
        with _names_are_unique():
            document = await self._tasks.find_and_update(org_id, where, {"$set": dict(change)})
        return _to_task(document) if document else None

    async def delete(self, org_id: OrgId, task_id: str, was: Mapping[str, Any] = NOTHING) -> bool:
        """Delete a task; return False if it is gone or differs from `was`."""
        return await self._tasks.delete(org_id, {**was, "_id": task_id})

    async def using_credential(self, org_id: OrgId, credential_id: str, limit: int) -> Uses:
        where = {"parameters.credential_id": credential_id}
        found = await self._tasks.find(org_id, where, fields={"name": 1}, sort=[("name", 1)], limit=limit)
        count = await self._tasks.count(org_id, where)
        return Uses(kind="task", names=[document["name"] for document in found], count=count)

    async def due(
        self, limit: int, *, batch: int, without: Collection[OrgId] = ()
    ) -> AsyncGenerator[list[DueRow], None]:
        """Yield enabled tasks whose time had come by the server's clock when the read began, the longest due
        first.

        `without`: organizations that are paused.
        """
        others = {"org_id": {"$nin": list(without)}} if without else {}
        rows: list[DueRow] = []
        async for document in self._all.stream(
            {"enabled": True, "$expr": {"$lte": ["$next_run_at", "$$NOW"]}, **others},
            fields={**dict.fromkeys(_FIELDS, 1), "now": "$$NOW"},
            sort=[("next_run_at", 1)],
            limit=limit,
            batch=batch,
        ):
            rows.append(DueRow(task=_to_task(document), now=document["now"]))
            if len(rows) == batch:
                yield rows
                rows = []
        if rows:
            yield rows

    async def waiting(self, *, batch: int) -> AsyncGenerator[list[DueRow], None]:
        """Yield all tasks whose time is still to come, with what their schedule needs alone."""
        rows: list[DueRow] = []
        async for document in self._all.stream(
            {"enabled": {"$in": [True, False]}, "$expr": {"$gt": ["$next_run_at", "$$NOW"]}},
            fields={**dict.fromkeys(_SCHEDULE, 1), "now": "$$NOW"},
            batch=batch,
            index=INDEXES[2].name,
        ):
            rows.append(DueRow(task=_to_task(document), now=document["now"]))
            if len(rows) == batch:
                yield rows
                rows = []
        if rows:
            yield rows

    async def oldest_due(self) -> timedelta | None:
        """Return how long the longest due task has been due, by the server's clock."""
        async for (first,) in self.due(1, batch=1):
            return first.now - first.task.next_run_at
        return None

    async def advance(self, moves: Iterable[tuple[Task, datetime]]) -> int:
        """Set `next_run_at` by compare-and-set; return how many tasks were advanced.

        An edit or another node that came in between wins. Tasks that move from the same tick to the same tick
        share one operation: three times as fast for the server, which plans each filter that is more than an
        `_id` anew.
        """
        groups: defaultdict[tuple[datetime, datetime], list[str]] = defaultdict(list)
        for task, upcoming in moves:
            groups[task.next_run_at, upcoming].append(task.id)
        return await self._all.update_groups(
            [
                ({"_id": {"$in": ids}, "next_run_at": was}, {"$set": {"next_run_at": upcoming}})
                for (was, upcoming), ids in groups.items()
            ]
        )

    async def disable(self, task: Task) -> None:
        """Disable a task whose expression or zone is no longer valid: it must not block the scan."""
        where = {"_id": task.id, "next_run_at": task.next_run_at}
        await self._tasks.update(task.org_id, where, {"$set": {"enabled": False}})

    async def record_starts(self, starts: Sequence[tuple[str, datetime]]) -> None:
        """Record the start of executions in `last_run_at`, which only ever grows."""
        await self._all.update_batch(
            [({"_id": task_id}, {"$max": {"last_run_at": moment}}) for task_id, moment in starts]
        )

    async def enabled_states(self, task_ids: Iterable[str]) -> dict[str, bool]:
        """Return whether each task is enabled, by id; a task that is gone is missing."""
        found = await self._all.find({"_id": {"$in": list(task_ids)}}, fields={"enabled": 1})
        return {document["_id"]: document["enabled"] for document in found}


def unchanged(task: Task) -> Mapping[str, Any]:
    """Return the condition that every field of the task still is as it was read."""
    return {name: {"$eq": getattr(task, name)} for name in _FIELDS}


def where_of(filters: Mapping[str, Any]) -> Document:
    """Build the query of a list.

    `filters` are values of fields; `q` is a text in the name, in any case. `blocked` depends on the owners.
    """
    where = {name: value for name, value in filters.items() if name not in ("q", "blocked")}
    if filters.get("q"):
        where["name"] = {"$regex": re.escape(filters["q"]), "$options": "i"}
    return where


@contextmanager
def _names_are_unique() -> Iterator[None]:
    try:
        yield
    except Duplicate as error:
        raise Conflict("Task with this name already exists") from error


_SCHEDULE = ("org_id", "cron_expression", "timezone", "enabled", "next_run_at")
_FIELDS = tuple(name for name in Task.__dataclass_fields__ if name not in ("id", "blocked"))
_NOTHING, _values = dict.fromkeys(_FIELDS), itemgetter(*_FIELDS)


def _to_document(task: Task) -> Document:
    # Not asdict(): it copies all of `parameters`, which takes a third of a second for the largest.
    return {"_id": task.id, **{name: getattr(task, name) for name in _FIELDS}}


def _to_task(document: Document) -> Task:
    fields = dict(zip(_FIELDS, _values({**_NOTHING, **document}), strict=True))
    fields |= {"id": document["_id"], "blocked": None}
    return made(Task, fields)
