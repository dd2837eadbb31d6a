"""Executions as documents: rows, and the pipeline updates that move them from one state to another.

A running row also carries `owner`, `epoch` and `lease_until` (store/leases/keeper.py), and `attempt`, the
attempt under way. The end of the attempt moves it into `attempts` and clears the owner, which is how the
owner's next heartbeat learns of a cancel. `holds_task` is true on the one row of a task that keeps all others
from starting: it runs, waits for an approval, or waits to continue after one. `owed_at` exists from the end
of an execution until its event is delivered to the webhooks that want it.
"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from netautod.automation.executions.models import AttemptRecord, Closing, Execution
from netautod.automation.executions.records.outcome import (
    UNKNOWN,
    Finished,
    HandedBack,
    NeverStarted,
    Outcome,
    Parked,
    Retried,
)
from netautod.automation.executions.transitions import ACTIVE, State, require
from netautod.core.schema.bulk_values import made
from netautod.network.configs.texts.tokens import without_tokens_within
from netautod.plugin_api import ApprovalDecision
from netautod.store.client import Document
from netautod.store.expressions import literal

# There from the end of an execution until its event is delivered: the moment of the end.
UNDELIVERED = "owed_at"
# The stored name of Execution.device_subset.
DEVICE_SUBSET = "chosen"
_PLAIN = tuple(
    name for name in Execution.__dataclass_fields__ if name not in ("id", "attempts", "approval", "closing")
)
_STORED = tuple(DEVICE_SUBSET if name == "device_subset" else name for name in _PLAIN)
_NOTHING, _values = dict.fromkeys(_STORED), itemgetter(*_STORED)


def with_undelivered_event(change: Document) -> Document:
    """Return a change that ends an execution and marks its event as undelivered."""
    return {**change, UNDELIVERED: "$$NOW"}


def to_document(execution: Execution) -> Document:
    """Return a new row; its `not_before` and `created_at` are times of the node that creates it."""
    row = {
        "_id": execution.id,
        **vars(execution),
        "approval": None,
        "closing": None,
        "attempts": [],
        "attempt": None,
        "not_before": execution.created_at,
        "owner": None,
        "epoch": 0,
        "lease_until": None,
    }
    del row["id"]
    row[DEVICE_SUBSET] = row.pop("device_subset")
    return row


def to_execution(document: Document) -> Execution:
    attempts = list(document.get("attempts", ()))
    if document.get("attempt"):
        attempts.append(document["attempt"])
    approval = document.get("approval")
    return made(
        Execution,
        {
            "id": document["_id"],
            "attempts": [_to_attempt(attempt) for attempt in attempts],
            "approval": ApprovalDecision(**approval) if approval else None,
            "closing": _to_closing(document.get("closing")),
            **dict(zip(_PLAIN, _values({**_NOTHING, **document}), strict=True)),
            "output": without_tokens_within(document.get("output")),
        },
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


def _to_closing(document: Document | None) -> Closing | None:
    if document is None:
        return None
    return Closing(level=document["level"], text=document["text"], node=document["node"])


def start_change(node_id: str, *, idempotent: bool) -> Document:
    """Return what a claim sets beside the lease: pending -> running, and the attempt that begins."""
    require("pending", "running")
    attempt = {
        "number": {"$add": [{"$size": "$attempts"}, 1]},
        "started_at": "$$NOW",
        "node": {"$literal": node_id},
    }
    return {
        "state": "running",
        "started_at": {"$ifNull": ["$started_at", "$$NOW"]},  # the first attempt's: a retry does not move it
        "attempt": attempt,
        **literal({"idempotent": idempotent, "progress": None, "holds_task": True}),
    }


def outcome_change(outcome: Outcome) -> Document:
    """Return the change running -> the state of the outcome."""
    require("running", outcome.state)
    match outcome:
        case Finished():
            return {
                **_output(outcome.output),
                **literal({"error_message": outcome.error_message}),
                **_end(outcome.state, outcome.state, outcome.error_message),
                # Its executor may still be about to end.
                **(_closing("error", outcome.error_message or "") if outcome.state == "timeout" else {}),
            }
        case NeverStarted():
            return {
                **literal({"error_message": outcome.error_message}),
                **_end(outcome.state, outcome.state, outcome.error_message),
                "started_at": {"$cond": [{"$eq": ["$attempts", []]}, None, "$started_at"]},
                "attempts": "$attempts",
                **_closing("warning", f"cancelled by the service: {outcome.error_message}"),
            }
        case Parked():
            return {
                **_end(outcome.state, outcome.state, None),
                # An earlier decision was on another request.
                **literal({"completed_at": None, "approval": None, "holds_task": True}),
                **literal({"approval_request": outcome.request, "resume": outcome.resume}),
                **literal({"approved_by_others": outcome.by_others}),
                "approval_expires_at": _later(outcome.expires_seconds),
            }
        case Retried():
            return {
                **_output(outcome.output),
                **_again(outcome.attempt, outcome.error_message, outcome.delay_seconds),
                **literal({"error_message": outcome.error_message}),
                "retry_count": {"$add": ["$retry_count", 1]},
            }
        case HandedBack():
            return _again("returned", None, 0)


def cancel_change(by: str | None, name: str | None, reason: str | None = None) -> Document:
    """Return the change active -> cancelled, by a user."""
    who = name or by or "the service"
    text = f"cancelled by {who}" + ("" if reason is None else f": {reason}")
    unclear = f"{UNKNOWN}: cancelled in the middle of a change"
    return {
        **literal({"cancelled_by": by}),
        "error_message": {"$cond": [{"$eq": ["$unclear", True]}, unclear, {"$literal": reason}]},
        **_end("cancelled", "cancelled", None),
        **_closing("warning", text),
    }


def abandoned_change(reason: str) -> Document:
    """Return the change active -> cancelled of an execution on which no node works any more.

    It holds whatever owner the row still names.
    """
    line = _closing("warning", f"cancelled by the service: {reason}", node={"$literal": None})
    return {**cancel_change(None, None, reason), **line}


def dead_change(outcome: Outcome) -> Document:
    """Return the change running -> the state of the outcome, of a run whose node died.

    The dead node writes no more lines, so no node has to end the log first.
    """
    change = outcome_change(outcome)
    if outcome.state == "pending":
        return change
    return {**change, **_closing("error", outcome.error_message or "", node={"$literal": None})}


def blocked_change(text: str, node_id: str) -> Document:
    """Return the change active -> failed of an execution that blocked a node that is dead now.

    The dead node writes no more lines.
    """
    for state in ACTIVE:
        require(state, "failed")
    living = {"$cond": [{"$eq": ["$owner", {"$literal": node_id}]}, None, "$owner"]}
    return {
        **literal({"error_message": text}),
        **_end("failed", "failed", text),
        **_closing("error", text, node=living),
    }


def decision_change(decision: ApprovalDecision) -> Document:
    """Return the change approval_pending -> pending: the run continues from its saved state with the
    decision.
    """
    require("approval_pending", "pending")
    approval = {
        "decision": decision.decision,
        "by": decision.by,
        "comment": decision.comment,
        "at": decision.at,
    }
    return {**literal({"approval": approval}), "state": "pending", "not_before": "$$NOW"}


def expiry_change() -> Document:
    """Return the change approval_pending -> failed, because the decision did not come in time."""
    text = "approval expired"
    return {
        **literal({"error_message": text}),
        **_end("failed", "failed", text),
        **_closing("error", text),
    }


def _end(state: State, attempt: str, error_message: str | None) -> Document:
    """Return the change that ends the attempt under way, if there is one, and releases the lease."""
    ended = {
        "$mergeObjects": [
            "$attempt",
            {"completed_at": "$$NOW", **literal({"outcome": attempt, "error_message": error_message})},
        ]
    }
    under_way = {"$eq": [{"$type": "$attempt"}, "object"]}
    return {
        "state": state,
        "completed_at": "$$NOW",
        "attempts": {"$cond": [under_way, {"$concatArrays": ["$attempts", [ended]]}, "$attempts"]},
        **literal({"attempt": None, "owner": None, "lease_until": None, "holds_task": None}),
    }


def _closing(level: str, text: str, *, node: Any = "$owner") -> Document:
    """Return the change that sets the last line of the log; `since` is when it became due."""
    line = {"level": {"$literal": level}, "text": {"$literal": text}}
    return {"closing": {**line, "node": node, "since": "$$NOW"}}


def _again(attempt: str, error_message: str | None, delay_seconds: float) -> Document:
    return {
        **_end("pending", attempt, error_message),
        "completed_at": {"$literal": None},
        "not_before": _later(delay_seconds),
    }


def soonest_start() -> Document:
    """Return the latest `not_before` that a pending row can have been given by now: that of a retry."""
    delay = {"$multiply": ["$retry_delay_seconds", 1000]}
    return {"$add": ["$$NOW", {"$cond": [{"$gt": ["$retry_count", 0]}, delay, 0]}]}


def _output(output: Any) -> Mapping[str, Any]:
    return {} if output is None else literal({"output": output})


def _later(seconds: float) -> Document:
    return {"$add": ["$$NOW", int(seconds * 1000)]}
