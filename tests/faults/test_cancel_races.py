"""Cancels that meet the end of the run: one terminal state, and the reply tells the truth about it."""

import asyncio
import random
from collections import Counter
from dataclasses import replace
from uuid import uuid4

import pytest

from netautod.automation.executions.models import Execution
from netautod.core.identity.caller import OrgId
from tests.faults.nodes import EXECUTIONS, Stand, served
from tests.support.client import ApiClient
from tests.support.execution import FAST, manual_run, task

RACES = 500
# A run lasts this long, a cancel is sent this long after its start is known; both at random.
LONGEST_RUN, LONGEST_WAIT = 0.3, 0.05


@pytest.mark.slow
async def test_cancel_against_finish(stand: Stand) -> None:
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    org_id = OrgId(str(uuid4()))
    runs = []
    for _ in range(RACES):
        one = task(
            org_id=org_id,
            task_type="slow",
            parameters={"seconds": chance.uniform(0, LONGEST_RUN)},
            max_retries=3,
        )
        await stand.world.add(one)
        runs.append(manual_run(one))
    started = {run.id: asyncio.Event() for run in runs}

    def watch(execution_id: str, state: str) -> None:
        if state == "running":
            started[execution_id].set()

    stand.history.watch = watch
    await stand.start_many(2, runs=replace(FAST, slots=10))
    async with served(stand.world.database) as api:
        client, _ = api.client("tasks.operate", org_id=org_id)
        racing = [asyncio.create_task(_race(client, run, started[run.id], chance)) for run in runs]
        await stand.world.executions.insert_many(runs)
        replies = dict(zip((run.id for run in runs), await asyncio.gather(*racing), strict=True))
    await stand.nothing_broken()
    states = {row["_id"]: row["state"] for row in await stand.world.all()}
    told = {204: "cancelled", 409: "completed"}
    assert {run.id: told[replies[run.id]] for run in runs} == states, seed
    # Otherwise one side always won, and nothing was raced.
    assert min(Counter(replies.values()).values()) > RACES / 100, (seed, Counter(replies.values()))


async def _race(client: ApiClient, run: Execution, started: asyncio.Event, chance: random.Random) -> int:
    await started.wait()
    await asyncio.sleep(chance.uniform(0, LONGEST_WAIT))
    return (await client.post(f"{EXECUTIONS}/{run.id}/cancel")).status
