"""Executions as a service leaves them, without anything having run."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.automation.executions.models import LogEntry, new_execution
from netautod.automation.tasks.models import Task
from netautod.plugin_api import DeviceResult
from tests.console.site import Site

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FAR = datetime(2999, 1, 1, tzinfo=UTC)


def task(site: Site, **changed: Any) -> Task:
    """One that only its executions know of."""
    made = Task(
        id=str(uuid4()),
        org_id=site.admin.org_id,
        name="nightly",
        description=None,
        task_type="backup",
        cron_expression="30 2 * * *",
        timezone="UTC",
        parameters={},
        enabled=False,
        max_retries=0,
        retry_delay_seconds=0,
        timeout_seconds=3600,
        next_run_at=START,
        last_run_at=None,
        owner_id=site.admin.user_id,
        created_at=START,
        updated_at=START,
    )
    return replace(made, **changed)


async def execution(site: Site, of: Task | None = None, **fields: Any) -> str:
    """One that has ended, unless `fields` of its row say otherwise; nobody claims or buries it."""
    made = replace(
        new_execution(of or task(site), execution_id=str(uuid4()), scheduled_for=None, created_at=START),
        state=fields.get("state", "failed"),
        started_at=START,
        completed_at=None
        if fields.get("state") in ("running", "approval_pending")
        else START + timedelta(seconds=75),
    )
    await site.installation.stores.executions.insert(made)
    change = {"lease_until": FAR, **fields}
    await site.installation.database.collection("executions").update({"_id": made.id}, {"$set": change})
    return made.id


async def results(site: Site, execution_id: str, found: Sequence[DeviceResult]) -> None:
    rows = [
        {
            "_id": f"{execution_id}:{one.device_id}",
            "org_id": site.admin.org_id,
            "execution_id": execution_id,
            "epoch": 1,
            **vars(one),
        }
        for one in found
    ]
    await site.installation.database.collection("execution_results").insert_many(rows)


def failure(name: str, kind: str | None, text: str = "it failed") -> DeviceResult:
    return DeviceResult(
        device_id=str(uuid4()), device_name=name, success=False, duration_ms=1500, error=text, error_kind=kind
    )


def success(name: str) -> DeviceResult:
    return DeviceResult(
        device_id=str(uuid4()), device_name=name, success=True, duration_ms=300, changed=True, version=4
    )


async def log(
    site: Site, execution_id: str, first: int, last: int, *, level: str = "info", device_id: str | None = None
) -> None:
    """Lines of these numbers (the last one included)."""
    lines = [
        LogEntry(seq=seq, at=START, level=level, device_id=device_id, message=f"line <{seq}>")
        for seq in range(first, last + 1)
    ]
    await site.installation.stores.execution_logs.append(site.admin.org_id, execution_id, lines)
