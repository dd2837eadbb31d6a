"""Executions in MongoDB: every state change is one compare-and-set on the old state."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from netautod.activity.webhooks.names import EXECUTION_FINISHED
from netautod.activity.webhooks.outbox.pending import PendingEvent, pending_index
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.automation.executions.models import Execution, ExecutionTally, FiredTick
from netautod.automation.executions.records import documents
from netautod.automation.executions.records.claims import Candidate, ClaimedRun, DeadRun
from netautod.automation.executions.records.documents import to_document, to_execution
from netautod.automation.executions.records.outcome import Outcome
from netautod.automation.executions.transitions import ACTIVE, CANCELLABLE, TERMINAL, State
from netautod.core.clock import Clock
from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.plugin_api import ApprovalDecision
from netautod.store.client import Database, Document, Filter, InsertManyResult
from netautod.store.indexes import Index
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import Lease, LeaseTimes
from netautod.store.scoped import scoped

COLLECTION = "executions"
INDEXES = (
    # An earlier version writes no `clock_step`, which is the null of 0.
    Index(
        collection=COLLECTION,
        keys=(("task_id", 1), ("scheduled_for", 1), ("clock_step", 1)),
        unique=True,
        partial={"scheduled_for": {"$type": "date"}},
    ),
    # One running execution per task: a second claim of the same task is refused by the index itself.
    Index(
        collection=COLLECTION,
        keys=(("task_id", 1), ("state", 1)),
        unique=True,
        partial={"state": "running"},
    ),
    # And none while one of them waits for an approval, or to continue after it (the other index is for rows
    # that were claimed before this index existed).
    Index(
        collection=COLLECTION,
        keys=(("holds_task", 1), ("task_id", 1)),
        unique=True,
        partial={"holds_task": True},
    ),
    Index(collection=COLLECTION, keys=(("closing.since", 1),), partial={"closing.since": {"$type": "date"}}),
    # Lately ended executions are events. A new row is not in this index.
    Index(collection=COLLECTION, keys=(("completed_at", 1),), partial={"completed_at": {"$type": "date"}}),
    pending_index(COLLECTION, documents.UNDELIVERED),
    Index(collection=COLLECTION, keys=(("state", 1), ("not_before", 1), ("created_at", 1))),
    Index(collection=COLLECTION, keys=(("state", 1), ("lease_until", 1))),
    Index(collection=COLLECTION, keys=(("task_id", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("state", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("state", 1), ("completed_at", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("task_type", 1), ("created_at", -1), ("_id", 1))),
)
NEWEST_FIRST = [("created_at", -1), ("_id", 1)]
SOONEST_FIRST = [("approval_expires_at", 1), ("created_at", 1), ("_id", 1)]
# Rows that were parked before `holds_task` existed hold their task as well.
HOLDING = {"$or": [{"holds_task": True}, {"state": {"$in": ["running", "approval_pending"]}}]}
NO_END = datetime(9999, 1, 1, tzinfo=UTC)
# The approval can still be given.
IN_TIME = {"$gt": [{"$ifNull": ["$approval_expires_at", {"$literal": NO_END}]}, "$$NOW"]}
PARKED = {"state": "approval_pending", "$expr": IN_TIME}
LARGE = ("output", "attempts", "attempt", "resume", "parameters", "approval_request", documents.DEVICE_SUBSET)
LIST_FIELDS = dict.fromkeys(LARGE, 0)


class ExecutionStore:
    """A store of executions.

    `wanted` returns whether a webhook wants an event; if so, the end of an execution is marked as
    undelivered.
    """

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self._scoped = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)
        self._leased = self._all.for_leases()
        field = documents.UNDELIVERED
        self.undelivered = PendingEvent(self._all, field=field, at=field, fields=LIST_FIELDS)

    def lease_keeper(self, node_id: str, *, clock: Clock, times: LeaseTimes) -> LeaseKeeper:
        """Return the keeper of one node's leases on running executions."""
        return LeaseKeeper(collection=self._leased, node_id=node_id, clock=clock, times=times)

    def require_room(self) -> None:
        """Raise DiskFull while no execution can be added."""
        self._all.require_room()

    async def insert(self, execution: Execution) -> None:
        await self._all.insert(to_document(execution))

    async def insert_many(self, executions: Sequence[Execution]) -> InsertManyResult:
        return await self._all.insert_many([to_document(execution) for execution in executions])

    async def get(self, org_id: OrgId, execution_id: str) -> Execution | None:
        document = await self._scoped.find_one(org_id, {"_id": execution_id})
        return to_execution(document) if document else None

    async def page(self, org_id: OrgId, filters: Mapping[str, Any], page: Page) -> PageOf[Execution]:
        """Return one page of executions, newest first, without the large fields.

        `filters` are those of where_of.
        """
        where = where_of(filters)
        total = await self._scoped.count(org_id, where)
        found = await self._scoped.find(
            org_id, where, fields=LIST_FIELDS, sort=NEWEST_FIRST, limit=page.limit, offset=page.offset
        )
        return PageOf(items=[to_execution(document) for document in found], total=total, page=page)

    async def some(self, org_id: OrgId, ids: Sequence[str], page: Page) -> PageOf[Execution]:
        """Return one page of the executions with these ids, newest first."""
        where = {"_id": {"$in": list(ids)}}
        found = await self._scoped.find(
            org_id, where, fields=LIST_FIELDS, sort=NEWEST_FIRST, limit=page.limit, offset=page.offset
        )
        total = await self._scoped.count(org_id, where)
        return PageOf(items=[to_execution(document) for document in found], total=total, page=page)

    async def newest_of(self, org_id: OrgId, task_ids: Sequence[str]) -> dict[str, Execution]:
        """Return the newest execution of each task by task id, without the large fields."""
        # With $first after the sort of an index the server jumps from task to task (DISTINCT_SCAN). It
        # would not with the organization in the match; the organization is checked afterwards.
        grouped = await self._all.aggregate(
            [
                {"$match": {"task_id": {"$in": list(task_ids)}}},
                {"$sort": {"task_id": 1, "created_at": -1, "_id": 1}},
                {"$group": {"_id": "$task_id", "row": {"$first": "$$ROOT"}}},
                {"$replaceRoot": {"newRoot": "$row"}},
                {"$project": LIST_FIELDS},
            ]
        )
        rows = [row for row in grouped if row["org_id"] == org_id]
        return {row["task_id"]: to_execution(row) for row in rows}

    async def parked(self, org_id: OrgId, page: Page, *, by_expiry: bool = False) -> PageOf[Execution]:
        """Return the executions that wait for a decision and can still have one, newest first or soonest to
        expire.
        """
        total = await self._scoped.count(org_id, PARKED)
        fields = dict.fromkeys(("output", "resume", "parameters", documents.DEVICE_SUBSET), 0)
        order = SOONEST_FIRST if by_expiry else NEWEST_FIRST
        found = await self._scoped.find(
            org_id, PARKED, fields=fields, sort=order, limit=page.limit, offset=page.offset
        )
        return PageOf(items=[to_execution(document) for document in found], total=total, page=page)

    async def prompts(self, org_id: OrgId, execution_ids: list[str]) -> dict[str, str | None]:
        """Return the prompt that each of these agent executions was created with."""
        found = await self._scoped.find(
            org_id, {"_id": {"$in": execution_ids}}, fields={"parameters.prompt": 1}
        )
        return {document["_id"]: document["parameters"].get("prompt") for document in found}

    async def active_of(self, task_ids: Iterable[str]) -> list[FiredTick]:
        """Return the ticks of the active executions of these tasks."""
        found = await self._all.find(
            {"task_id": {"$in": list(task_ids)}, "state": {"$in": list(ACTIVE)}}, fields=_TICK
        )
        return [_to_tick(document) for document in found]

    async def fired_after(self, task_ids: Iterable[str], moment: datetime) -> list[FiredTick]:
        """Return the ticks later than `moment` of these tasks that have an execution: before the clock was
        set back.
        """
        later = {"$type": "date", "$gt": moment}
        found = await self._all.find(
            {"task_id": {"$in": list(task_ids)}, "scheduled_for": later}, fields=_TICK
        )
        return [_to_tick(document) for document in found]

    async def is_active(self, org_id: OrgId, execution_id: str, since: datetime) -> bool:
        """Return whether the execution may still write, or could until `since` at least.

        False for one that is gone.
        """
        found = await self._scoped.find_one(
            org_id, {"_id": execution_id}, fields={"state": 1, "completed_at": 1}
        )
        if found is None:
            return False
        return found["state"] in ACTIVE or found["completed_at"] is None or found["completed_at"] >= since

    async def last_finished(
        self, org_id: OrgId, task_id: str, *, but: str, before: datetime | None = None
    ) -> State | None:
        """Return how the newest other execution of the task ended, cancelled ones aside.

        Newest by creation, in which an index keeps them: a task's executions run one at a time. `before`:
        only executions that were created before this moment.
        """
        ended: Document = {
            "task_id": task_id,
            "state": {"$in": ["completed", "failed", "timeout"]},
            "_id": {"$ne": but},
        }
        if before is not None:
            ended["created_at"] = {"$lt": before}
        found = await self._scoped.find_one(org_id, ended, fields={"state": 1}, sort=NEWEST_FIRST)
        return None if found is None else found["state"]

    async def tally(self, org_id: OrgId, *, failed_since: datetime) -> ExecutionTally:
        """Count the executions that run, wait for a slot, have failed since then, and wait for a decision."""
        running, pending, failed, approvals = await asyncio.gather(
            self._scoped.count(org_id, {"state": "running"}),
            self.pending(org_id),
            self._scoped.count(org_id, {"state": "failed", "completed_at": {"$gte": failed_since}}),
            self._scoped.count(org_id, PARKED),
        )
        return ExecutionTally(running=running, pending=pending, failed=failed, approvals=approvals)

    async def pending(self, org_id: OrgId) -> int:
        return await self._scoped.count(org_id, {"state": "pending"})

    async def claimable(self, limit: int, *, without: Collection[OrgId] = ()) -> list[Candidate]:
        """Find pending executions whose time has come and whose task is free, oldest first.

        A task is not free while another execution of it runs, waits for an approval or continues after one.
        `without`: organizations that are paused.
        """
        others = {"org_id": {"$nin": list(without)}} if without else {}
        busy = await self._leased.distinct("task_id", HOLDING)
        found = await self._leased.find(
            {
                "state": "pending",
                "$or": [{"task_id": {"$nin": busy}}, {"holds_task": True}],
                "$expr": {"$lte": ["$not_before", "$$NOW"]},
                **others,
            },
            fields={"org_id": 1, "task_type": 1, "epoch": 1},
            sort=[("not_before", 1), ("created_at", 1)],
            limit=limit,
        )
        return [
            Candidate(id=row["_id"], org_id=row["org_id"], task_type=row["task_type"], epoch=row["epoch"])
            for row in found
        ]

    async def claim(
        self, keeper: LeaseKeeper, candidate: Candidate, *, idempotent: bool
    ) -> ClaimedRun | None:
        """Claim a pending execution; None if another node, or another run of the task, was first."""
        change = documents.start_change(keeper.node_id, idempotent=idempotent)
        pending = {"state": "pending", "org_id": candidate.org_id}
        try:
            held = await keeper.claim(candidate.id, candidate.epoch, pending, change)
        except Duplicate:
            return None
        if held is None:
            return None
        return ClaimedRun(held=held, execution=to_execution(held.row), idempotent=idempotent)

    async def save_progress(self, held: Lease, done: int, total: int) -> None:
        """Store the progress of a run; dropped if the lease is gone."""
        await self._leased.update(_fenced(held), {"$set": {"progress": {"done": done, "total": total}}})

    async def align(self, keeper: LeaseKeeper) -> None:
        """Let no run wait longer than it would from now on: the database's clock was set back."""
        await keeper.align({"state": "running"})
        soonest = documents.soonest_start()
        where = {"state": "pending", "$expr": {"$gt": ["$not_before", soonest]}}
        await self._leased.update_many(where, [{"$set": {"not_before": soonest}}])

    async def mark_unclear(self, org_id: OrgId, execution_id: str, *, unclear: bool) -> None:
        """Store whether a running execution is in the middle of a change that must not be started again."""
        running = {"_id": execution_id, "state": "running"}
        await self._scoped.update(org_id, running, {"$set": {"unclear": unclear}})

    async def end_attempt(self, held: Lease, outcome: Outcome) -> bool:
        """Move a running execution to the state of the outcome; return False if the lease is gone."""
        change = self._ending(held.row["org_id"], outcome.state, documents.outcome_change(outcome))
        return await self._leased.update(_fenced(held), [{"$set": change}])

    async def has_ended(self, held: Lease, state: State) -> bool:
        """Return whether the claim `held` is the last one and the execution is in that state."""
        where = {"_id": held.row_id, **_place(held.row)}
        row = await self._leased.find_one(where, fields={"state": 1, "epoch": 1})
        return row is not None and row["epoch"] == held.epoch and row["state"] == state

    async def dead_runs(self, *, grace_seconds: float, limit: int) -> list[DeadRun]:
        """Find runs whose lease ran out more than `grace_seconds` ago by the server's clock."""
        dead_since = {"$subtract": ["$$NOW", int(grace_seconds * 1000)]}
        found = await self._leased.find(
            {"state": "running", "$expr": {"$lt": ["$lease_until", dead_since]}}, limit=limit
        )
        return [
            DeadRun(
                execution=to_execution(row),
                idempotent=bool(row.get("idempotent")),
                node_id=row["owner"],
                epoch=row["epoch"],
                lease_until=row["lease_until"],
            )
            for row in found
        ]

    async def end_dead(self, dead: DeadRun, outcome: Outcome) -> bool:
        """Move a dead run to the state of the outcome.

        Returns False if the lease was renewed or the execution claimed meanwhile.
        """
        still_dead = {
            "_id": dead.execution.id,
            "org_id": dead.execution.org_id,
            "task_id": dead.execution.task_id,
            "state": "running",
            "epoch": dead.epoch,
            "lease_until": dead.lease_until,
        }
        org_id = dead.execution.org_id
        change = self._ending(org_id, outcome.state, documents.dead_change(outcome))
        return await self._leased.update(still_dead, [{"$set": change}])

    async def cancel(
        self, org_id: OrgId, execution_id: str, *, by: str | None, name: str | None = None
    ) -> Execution | None:
        """Cancel an active execution; return None if it is not active (any more).

        `name` is that of the user.
        """
        change = self._ending(org_id, "cancelled", documents.cancel_change(by, name))
        document = await self._scoped.find_and_update(
            org_id, {"_id": execution_id, "state": {"$in": list(CANCELLABLE)}}, [{"$set": change}]
        )
        return to_execution(document) if document else None

    async def abandon_all(self, reason: str) -> int:
        """Cancel every active execution of all organizations, while no node lives; return how many."""
        change = documents.abandoned_change(reason)
        return await self._all.update_many({"state": {"$in": list(CANCELLABLE)}}, [{"$set": change}])

    async def cancel_waiting_of(self, org_id: OrgId, task_id: str, *, by: str, name: str) -> Execution | None:
        """Cancel one waiting execution of a deleted task; return None if there is none."""
        where = {"task_id": task_id, "state": {"$in": ["pending", "approval_pending"]}}
        change = documents.cancel_change(by, name, "the task was deleted")
        document = await self._scoped.find_and_update(org_id, where, [{"$set": change}])
        return to_execution(document) if document else None

    async def cancel_all(self, org_id: OrgId, reason: str) -> int:
        """Cancel all active executions of an organization; return how many."""
        where = {"state": {"$in": list(CANCELLABLE)}}
        change = documents.cancel_change(None, None, reason)
        return await self._scoped.update_many(org_id, where, [{"$set": change}])

    async def cleaning_up(self, org_id: OrgId) -> int:
        """Count the executions that were ended from outside and may still have an executor at work."""
        return await self._scoped.count(org_id, {"closing.node": {"$type": "string"}})

    async def held_or_closing(self, held: Lease) -> Execution | None:
        """Return the execution if its lease is still `held`, or was when it was ended from outside."""
        node = held.row["owner"]
        ours = {"_id": held.row_id, **_place(held.row), "epoch": held.epoch}
        where = {**ours, "$or": [{"owner": node}, {"closing.node": node}]}
        document = await self._all.find_one(where)
        return to_execution(document) if document else None

    async def left_open(self, seconds: float, *, limit: int) -> list[Execution]:
        """Find ended executions whose log has been due to be ended for so many seconds."""
        before = {"$subtract": ["$$NOW", int(seconds * 1000)]}
        found = await self._all.find(
            {"closing.since": {"$type": "date"}, "$expr": {"$lt": ["$closing.since", before]}}, limit=limit
        )
        return [to_execution(document) for document in found]

    async def closed(self, org_id: OrgId, execution_id: str) -> None:
        """Record that the last line of the log is written."""
        await self._scoped.update(org_id, {"_id": execution_id}, {"$set": {"closing": None}})

    async def give_up_ticks(self, org_id: OrgId, *, before: datetime, reason: str) -> int:
        """Cancel scheduled runs of ticks before then that no node has begun; return how many."""
        where = {"state": "pending", "scheduled_for": {"$lt": before}, "attempts": []}
        change = documents.cancel_change(None, None, reason)
        return await self._scoped.update_many(org_id, where, [{"$set": change}])

    async def decide_approval(
        self, org_id: OrgId, execution_id: str, decision: ApprovalDecision, *, shown: str | None = None
    ) -> Execution | None:
        """Move a parked execution to pending, once, and not after its time; return None if that is over.

        The request must also have the hash that was `shown`.
        """
        change = documents.decision_change(decision)
        waiting: dict[str, Any] = {
            "_id": execution_id,
            "state": "approval_pending",
            "$expr": IN_TIME,
        }
        if shown is not None:
            waiting["approval_request.hash"] = shown
        document = await self._scoped.find_and_update(org_id, waiting, [{"$set": change}])
        return to_execution(document) if document else None

    async def expire_approval(self) -> Execution | None:
        """Fail one execution that waited too long for an approval; return None if there is none."""
        where = {"state": "approval_pending", "$expr": {"$lt": ["$approval_expires_at", "$$NOW"]}}
        while found := await self._all.find_one(where, fields={"org_id": 1}):
            org_id = OrgId(found["org_id"])
            change = self._ending(org_id, "failed", documents.expiry_change())
            ours = {**where, "_id": found["_id"]}
            document = await self._scoped.find_and_update(org_id, ours, [{"$set": change}])
            if document is not None:  # else a user has decided, or another node was faster
                return to_execution(document)
        return None

    def _ending(self, org_id: OrgId, state: State, change: Document) -> Document:
        wanted = state in TERMINAL and self._wanted(org_id, EXECUTION_FINISHED)
        return documents.with_undelivered_event(change) if wanted else change

    async def tasks_that_ended(self, before: datetime) -> list[str]:
        """Return the ids of tasks with ended executions that were created before then."""
        return [str(task_id) for task_id in await self._all.distinct("task_id", _ended(before))]

    async def pending_of_all(self) -> int:
        """Count the pending executions of all organizations."""
        return await self._all.count({"state": "pending"})

    async def tasks_with_more_than(self, count: int) -> list[str]:
        """Return the ids of tasks with more executions than `count`."""
        grouped = await self._all.aggregate(
            [
                {"$group": {"_id": "$task_id", "count": {"$sum": 1}}},
                {"$match": {"count": {"$gt": count}}},
            ]
        )
        return [group["_id"] for group in grouped]

    async def creation_of_newest(self, task_id: str, number: int) -> datetime | None:
        """Return when the task's newest execution of that number (from 1) was created.

        None if it has fewer.
        """
        found = await self._all.find(
            {"task_id": task_id}, fields={"created_at": 1}, sort=NEWEST_FIRST, offset=number - 1, limit=1
        )
        return found[0]["created_at"] if found else None

    async def newest_in(self, task_id: str, states: Collection[State]) -> str | None:
        """Return the id of the task's newest execution in one of the states."""
        where = {"task_id": task_id, "state": {"$in": list(states)}}
        row = await self._all.find_one(where, fields={"_id": 1}, sort=NEWEST_FIRST)
        return row["_id"] if row else None

    async def ended_of(
        self, task_id: str, before: datetime, *, but: Collection[str], limit: int
    ) -> list[tuple[OrgId, str]]:
        """Return (organization, id) of the task's ended executions that were created before then."""
        where = {**_ended(before), "task_id": task_id, "_id": {"$nin": list(but)}}
        found = await self._all.find(where, fields={"org_id": 1}, limit=limit)
        return [(OrgId(row["org_id"]), row["_id"]) for row in found]

    async def delete(self, org_id: OrgId, execution_ids: Sequence[str]) -> int:
        """Delete executions; return how many there were."""
        return await self._scoped.delete_many(org_id, {"_id": {"$in": list(execution_ids)}})


def where_of(filters: Mapping[str, Any]) -> Document:
    """Build the query of a list.

    `filters` are values of fields; `since` and `until` (both included) are moments of creation.
    """
    where = {key: value for key, value in filters.items() if key not in ("since", "until")}
    bounds = {"$gte": filters.get("since"), "$lte": filters.get("until")}
    created = {operator: moment for operator, moment in bounds.items() if moment is not None}
    return {**where, "created_at": created} if created else where


_TICK = {"task_id": 1, "scheduled_for": 1, "clock_step": 1}


def _to_tick(document: Document) -> FiredTick:
    return FiredTick(
        task_id=document["task_id"],
        scheduled_for=document["scheduled_for"],
        clock_step=document.get("clock_step") or 0,
    )


def _fenced(held: Lease) -> Filter:
    """Return the fence of the lease, with the fields by which a sharded cluster finds its shard.

    tests/support/sharding.py checks that.
    """
    return {**held.fence, **_place(held.row), "state": "running"}


def _place(row: Document) -> Filter:
    return {"org_id": row["org_id"], "task_id": row["task_id"]}


def _ended(before: datetime) -> Document:
    return {"state": {"$in": list(TERMINAL)}, "created_at": {"$lt": before}}
