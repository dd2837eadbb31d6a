"""Executions in MongoDB: every state change is one compare-and-set on the old state.

A row that runs also carries `owner`, `epoch` and `lease_until` (leases/keeper.py), and `attempt`, the
attempt under way; ending the attempt moves it into `attempts` and clears the owner, which is how the
owner's next heartbeat learns of a cancel.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.clock import Clock
from netautod.core.identity import OrgId
from netautod.core.pages import Page, PageOf
from netautod.executions.models import AttemptRecord, Execution
from netautod.executions.transitions import ACTIVE, CANCELLABLE, State, require
from netautod.plugin_api import ApprovalDecision
from netautod.store.client import Database, Document, Filter, InsertManyResult
from netautod.store.expressions import literal
from netautod.store.indexes import Index
from netautod.store.leases.keeper import LeaseKeeper, LeaseTimes

COLLECTION = "executions"
INDEXES = (
    Index(
        collection=COLLECTION,
        keys=(("task_id", 1), ("scheduled_for", 1)),
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
    Index(collection=COLLECTION, keys=(("state", 1), ("not_before", 1), ("created_at", 1))),
    Index(collection=COLLECTION, keys=(("state", 1), ("lease_until", 1))),
    Index(collection=COLLECTION, keys=(("task_id", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("state", 1), ("created_at", -1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("org_id", 1), ("task_type", 1), ("created_at", -1), ("_id", 1))),
)
NEWEST_FIRST = [("created_at", -1), ("_id", 1)]
LIST_FIELDS = {"output": 0, "attempts": 0, "attempt": 0, "resume": 0, "parameters": 0, "approval_request": 0}
_PLAIN = tuple(name for name in Execution.__dataclass_fields__ if name not in ("id", "attempts", "approval"))


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A pending execution that a node may try to claim."""

    id: str
    org_id: OrgId
    task_type: str


class ExecutionStore:
    def __init__(self, database: Database) -> None:
        self._scoped = database.scoped(COLLECTION)
        self.collection = database.collection(COLLECTION)

    def lease_keeper(self, node_id: str, *, clock: Clock, times: LeaseTimes) -> LeaseKeeper:
        """The leases of one node on running executions."""
        return LeaseKeeper(collection=self.collection, node_id=node_id, clock=clock, times=times)

    async def insert(self, execution: Execution) -> None:
        await self.collection.insert(to_document(execution))

    async def insert_many(self, executions: Sequence[Execution]) -> InsertManyResult:
        return await self.collection.insert_many([to_document(execution) for execution in executions])

    async def get(self, org_id: OrgId, execution_id: str) -> Execution | None:
        document = await self._scoped.find_one(org_id, {"_id": execution_id})
        return to_execution(document) if document else None

    async def page(self, org_id: OrgId, where: Mapping[str, Any], page: Page) -> PageOf[Execution]:
        """Newest first, without the large fields."""
        total = await self._scoped.count(org_id, where)
        found = await self._scoped.find(
            org_id, where, fields=LIST_FIELDS, sort=NEWEST_FIRST, limit=page.limit, offset=page.offset
        )
        return PageOf(items=[to_execution(document) for document in found], total=total, page=page)

    async def prompts(self, org_id: OrgId, execution_ids: list[str]) -> dict[str, str | None]:
        """The prompt that each of these agent executions was created with."""
        found = await self._scoped.find(
            org_id, {"_id": {"$in": execution_ids}}, fields={"parameters.prompt": 1}
        )
        return {document["_id"]: document["parameters"].get("prompt") for document in found}

    async def active_since(self, task_ids: Iterable[str]) -> list[tuple[str, datetime | None]]:
        """(task id, scheduled_for) of the active executions of these tasks."""
        found = await self.collection.find(
            {"task_id": {"$in": list(task_ids)}, "state": {"$in": list(ACTIVE)}},
            fields={"task_id": 1, "scheduled_for": 1},
        )
        return [(document["task_id"], document["scheduled_for"]) for document in found]

    async def is_active(self, org_id: OrgId, execution_id: str, since: datetime) -> bool:
        """Whether it may still write, or could until `since` at least; false for one that is gone."""
        found = await self._scoped.find_one(
            org_id, {"_id": execution_id}, fields={"state": 1, "completed_at": 1}
        )
        if found is None:
            return False
        return found["state"] in ACTIVE or found["completed_at"] is None or found["completed_at"] >= since

    async def last_finished(self, task_id: str, *, but: str) -> State | None:
        """How the newest other execution of the task that was not cancelled has ended.

        Newest by creation, in which an index keeps them: a task's executions run one at a time.
        """
        ended = {
            "task_id": task_id,
            "state": {"$in": ["completed", "failed", "timeout"]},
            "_id": {"$ne": but},
        }
        found = await self.collection.find_one(ended, fields={"state": 1}, sort=NEWEST_FIRST)
        return None if found is None else found["state"]

    async def pending(self, org_id: OrgId) -> int:
        return await self._scoped.count(org_id, {"state": "pending"})

    async def claimable(self, limit: int, *, without: Collection[OrgId] = ()) -> list[Candidate]:
        """Pending executions whose time has come and whose task does not run, oldest first.

        `without`: organizations that are paused.
        """
        others = {"org_id": {"$nin": list(without)}} if without else {}
        busy = await self.collection.distinct("task_id", {"state": "running"})
        found = await self.collection.find(
            {
                "state": "pending",
                "task_id": {"$nin": busy},
                "$expr": {"$lte": ["$not_before", "$$NOW"]},
                **others,
            },
            fields={"org_id": 1, "task_type": 1},
            sort=[("not_before", 1), ("created_at", 1)],
            limit=limit,
        )
        return [
            Candidate(id=document["_id"], org_id=document["org_id"], task_type=document["task_type"])
            for document in found
        ]

    async def save_progress(self, fence: Filter, done: int, total: int) -> None:
        """Of the run that holds the lease; that of one that lost it is dropped."""
        progress = {"done": done, "total": total}
        await self.collection.update({**fence, "state": "running"}, {"$set": {"progress": progress}})

    async def cancel(
        self, org_id: OrgId, execution_id: str, *, by: str | None, reason: str | None = None
    ) -> Execution | None:
        """Cancels an active execution; None if it is not active (any more)."""
        change = {
            **literal({"cancelled_by": by, "error_message": reason}),
            **_end("cancelled", "cancelled", reason),
        }
        document = await self._scoped.find_and_update(
            org_id, {"_id": execution_id, "state": {"$in": list(CANCELLABLE)}}, [{"$set": change}]
        )
        return to_execution(document) if document else None

    async def cancel_pending_of(self, org_id: OrgId, task_id: str) -> int:
        """Cancels what a deleted task still had waiting."""
        change = {
            **literal({"error_message": "the task was deleted"}),
            **_end("cancelled", "cancelled", None),
        }
        where = {"task_id": task_id, "state": {"$in": ["pending", "approval_pending"]}}
        return await self._scoped.update_many(org_id, where, [{"$set": change}])

    async def decide_approval(
        self, org_id: OrgId, execution_id: str, decision: ApprovalDecision
    ) -> Execution | None:
        """approval_pending -> pending (approved) or failed (rejected), once."""
        approval = {
            "decision": decision.decision,
            "by": decision.by,
            "comment": decision.comment,
            "at": decision.at,
        }
        change: dict[str, Any] = literal({"approval": approval})
        if decision.decision == "approved":
            change |= {"state": "pending", "not_before": "$$NOW"}
        else:
            change |= {**literal({"error_message": "rejected"}), "state": "failed", "completed_at": "$$NOW"}
        document = await self._scoped.find_and_update(
            org_id, {"_id": execution_id, "state": "approval_pending"}, [{"$set": change}]
        )
        return to_execution(document) if document else None

    async def expire_approval(self) -> Execution | None:
        """Fails one that waited too long for an approval; None if there is none."""
        change = {
            **literal({"error_message": "approval expired"}),
            "state": "failed",
            "completed_at": "$$NOW",
        }
        where = {"state": "approval_pending", "$expr": {"$lt": ["$approval_expires_at", "$$NOW"]}}
        document = await self.collection.find_and_update(where, [{"$set": change}])
        return to_execution(document) if document else None


def start_change(node: str, *, idempotent: bool) -> dict[str, Any]:
    """What a claim sets beside the lease: pending -> running, and the attempt that begins."""
    require("pending", "running")
    attempt = {
        "number": {"$add": [{"$size": "$attempts"}, 1]},
        "started_at": "$$NOW",
        "node": {"$literal": node},
    }
    return {
        "state": "running",
        "started_at": "$$NOW",
        "attempt": attempt,
        **literal({"idempotent": idempotent, "progress": None}),
    }


def finish_change(state: State, *, output: Any, error_message: str | None) -> dict[str, Any]:
    """running -> a terminal state."""
    require("running", state)
    kept = {} if output is None else literal({"output": output})
    return {**kept, **literal({"error_message": error_message}), **_end(state, state, error_message)}


def retry_change(
    error_message: str | None, *, output: Any, delay_seconds: float, outcome: str, counted: bool
) -> dict[str, Any]:
    """running -> pending: a retry, a takeover (both `counted`) or a hand-back."""
    require("running", "pending")
    kept = {} if output is None else literal({"output": output})
    change = {
        **kept,
        **_end("pending", outcome, error_message),
        "completed_at": {"$literal": None},
        "not_before": {"$add": ["$$NOW", int(delay_seconds * 1000)]},
    }
    if counted:
        change |= {"retry_count": {"$add": ["$retry_count", 1]}, **literal({"error_message": error_message})}
    return change


def park_change(request: Mapping[str, Any], state: Any, expires_seconds: float) -> dict[str, Any]:
    """running -> approval_pending."""
    require("running", "approval_pending")
    return {
        **_end("approval_pending", "approval_pending", None),
        **literal({"completed_at": None, "approval_request": dict(request), "resume": state}),
        "approval_expires_at": {"$add": ["$$NOW", int(expires_seconds * 1000)]},
    }


def _end(state: State, outcome: str, error_message: str | None) -> dict[str, Any]:
    """Ends the attempt under way, if there is one, and gives up the lease."""
    ended = {
        "$mergeObjects": [
            "$attempt",
            {"completed_at": "$$NOW", **literal({"outcome": outcome, "error_message": error_message})},
        ]
    }
    under_way = {"$eq": [{"$type": "$attempt"}, "object"]}
    return {
        "state": state,
        "completed_at": "$$NOW",
        "attempts": {"$cond": [under_way, {"$concatArrays": ["$attempts", [ended]]}, "$attempts"]},
        **literal({"attempt": None, "owner": None, "lease_until": None}),
    }


def to_document(execution: Execution) -> Document:
    """A new row; `not_before` and `created_at` are the creator's time."""
    return {
        "_id": execution.id,
        **{name: getattr(execution, name) for name in _PLAIN},
        "approval": None,
        "attempts": [],
        "attempt": None,
        "not_before": execution.created_at,
        "owner": None,
        "epoch": 0,
        "lease_until": None,
    }


def to_execution(document: Document) -> Execution:
    attempts = list(document.get("attempts", ()))
    if document.get("attempt"):
        attempts.append(document["attempt"])
    approval = document.get("approval")
    return Execution(
        id=document["_id"],
        attempts=[_to_attempt(attempt) for attempt in attempts],
        approval=ApprovalDecision(**approval) if approval else None,
        **{name: document.get(name) for name in _PLAIN},  # type: ignore[arg-type]
    )


def _to_attempt(document: Document) -> AttemptRecord:
    return AttemptRecord(
        number=document["number"],
        started_at=document["started_at"],
        completed_at=document.get("completed_at"),
        outcome=document.get("outcome"),
        error_message=document.get("error_message"),
        node=document["node"],
    )
