"""The scenario of users who switch off, delete and reschedule tasks while their tick fires."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.core.identity import OrgId
from tests.faults.api import SCHEDULES, served
from tests.faults.nodes import Stand
from tests.support.client import ApiClient
from tests.support.execution import FAST, task

MINUTE = timedelta(minutes=1)
# Around the tick: the earliest edits come before it, the latest when its runs have ended.
FROM_SECONDS, TO_SECONDS = -0.4, 1.2
GRACE = timedelta(seconds=1)
# The runs of the tick wait for a slot for some seconds: many of them when their task is edited.
FEW_SLOTS = replace(FAST, slots=4)
NEW_YEAR = "0 0 1 1 *"


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One edit and the moment of its reply."""

    task_id: str
    kind: str
    replied_at: datetime


async def edit_while_firing(stand: Stand, *, tasks: int, seed: int) -> None:
    """`tasks` edits, a third of each kind, at random moments around one tick; the next tick comes after."""
    chance = random.Random(seed)
    await stand.start_many(2, runs=FEW_SLOTS)
    org_id = OrgId(str(uuid4()))
    soon = datetime.now(UTC) + timedelta(seconds=10)
    tick = soon.replace(second=0, microsecond=0) + MINUTE
    made = [
        task(
            task_type="slow",
            parameters={"seconds": 0.1},
            cron_expression="* * * * *",
            next_run_at=tick,
            org_id=org_id,
            name=f"t{n}",
        )
        for n in range(tasks + 20)
    ]
    await stand.world.add(*made)
    edited, untouched = made[:tasks], made[tasks:]
    async with served(stand.world.database) as api:
        client, _ = api.client("*", org_id=org_id)
        edits = await asyncio.gather(
            *(
                _edit(client, one.id, ("toggle", "delete", "cron")[number % 3], tick, chance)
                for number, one in enumerate(edited)
            )
        )
    await asyncio.sleep((tick + MINUTE - datetime.now(UTC)).total_seconds() + 5)
    rows = await stand.world.all()
    _check(edits, rows, seed)
    expected = {(one.id, tick + MINUTE * number) for one in untouched for number in (0, 1)}
    fired = [(row["task_id"], row["scheduled_for"]) for row in rows]
    assert expected <= set(fired), seed
    assert len(fired) == len(set(fired)), seed
    await _rescheduled_tasks_kept_their_schedule(stand, edits, tick)
    await stand.nothing_broken()


async def _edit(client: ApiClient, task_id: str, kind: str, tick: datetime, chance: random.Random) -> Edit:
    moment = tick + timedelta(seconds=chance.uniform(FROM_SECONDS, TO_SECONDS))
    await asyncio.sleep((moment - datetime.now(UTC)).total_seconds())
    path = f"{SCHEDULES}/{task_id}"
    if kind == "toggle":
        response = await client.post(f"{path}/toggle", {"enabled": False})
    elif kind == "delete":
        response = await client.delete(path)
    else:
        response = await client.put(path, {"cron_expression": NEW_YEAR})
    assert response.status in (200, 204), response
    return Edit(task_id=task_id, kind=kind, replied_at=datetime.now(UTC))


def _check(edits: Sequence[Edit], rows: Sequence[dict[str, Any]], seed: int) -> None:
    by_task = {edit.task_id: edit for edit in edits}
    for row in rows:
        edit = by_task.get(row["task_id"])
        if edit is None:
            continue
        assert row["scheduled_for"] <= edit.replied_at, (seed, edit, row)
        if edit.kind in ("toggle", "delete") and row["started_at"] is not None:
            assert row["started_at"] <= edit.replied_at + GRACE, (seed, edit, row)
    # Otherwise the edits all came too early or too late, and nothing was tested.
    fired = {row["task_id"] for row in rows}
    for kind in ("toggle", "delete", "cron"):
        hit = sum(edit.kind == kind and edit.task_id in fired for edit in edits)
        assert 0 < hit < sum(edit.kind == kind for edit in edits), (seed, kind, hit)


async def _rescheduled_tasks_kept_their_schedule(stand: Stand, edits: Sequence[Edit], tick: datetime) -> None:
    new_year = datetime(tick.year + 1, 1, 1, tzinfo=UTC)
    tasks = stand.world.database.collection("tasks")
    for edit in edits:
        found = await tasks.find_one({"_id": edit.task_id})
        if edit.kind == "delete":
            assert found is None
        elif edit.kind == "cron":
            assert found is not None
            assert found["next_run_at"] == new_year
