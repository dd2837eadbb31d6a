"""The floor of firing: a hand-written batched insert + update loop without cron arithmetic."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from pymongo import UpdateOne

from tests.bench.measured.drivers import DRIVERS

Raw = dict[str, Any]


async def seconds_to_record(uri: str, name: str, batch: int, kind: str = "motor") -> float:
    """Fire what is due in the database's `tasks` into its `executions`, majority and journaled.

    Same collections, indexes and documents as the product's scan, and the same batch; but no decision, no
    look at active executions, no compare-and-set, and every task is next due in an hour. `kind` is the
    driver.
    """
    driver = DRIVERS[kind](uri, name, w="majority", journal=True)
    try:
        started = time.perf_counter()
        while True:
            now = datetime.now(UTC)
            due = {"enabled": True, "next_run_at": {"$lte": now}}
            found = await driver.find("tasks", due, sort=[("next_run_at", 1)], limit=batch)
            if not found:
                return time.perf_counter() - started
            await driver.insert_many("executions", [_execution(task, now) for task in found])
            later = {"$set": {"next_run_at": now + timedelta(hours=1)}}
            await driver.bulk_write("tasks", [UpdateOne({"_id": task["_id"]}, later) for task in found])
    finally:
        await driver.close()


def _execution(task: Raw, now: datetime) -> Raw:
    return {
        "_id": str(uuid4()),
        "org_id": task["org_id"],
        "task_id": task["_id"],
        "task_name": task["name"],
        "task_type": task["task_type"],
        "state": "pending",
        "triggered_by": "schedule",
        "scheduled_for": task["next_run_at"],
        "owner_id": task["owner_id"],
        "parameters": task["parameters"],
        "max_retries": task["max_retries"],
        "retry_delay_seconds": task["retry_delay_seconds"],
        "timeout_seconds": task["timeout_seconds"],
        "started_at": None,
        "completed_at": None,
        "output": None,
        "error_message": None,
        "retry_count": 0,
        "cancelled_by": None,
        "approval_request": None,
        "resume": None,
        "progress": None,
        "created_at": now,
        "scope": task["scope"],
        "requested_by": task["owner_id"],
        **dict.fromkeys(("approval_expires_at", "approved_by_others", "unclear", "traceparent")),
        "approval": None,
        "closing": None,
        "attempts": [],
        "attempt": None,
        "not_before": now,
        "owner": None,
        "epoch": 0,
        "lease_until": None,
    }
