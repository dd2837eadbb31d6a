"""A primary that hangs: every answer comes in time, and when there is a new one runs and requests go on."""

import asyncio
from pathlib import Path

import pytest

from netautod.store.connection import connect
from tests.faults.nodes import DEFAULT_RUNS, EXECUTIONS, SCHEDULES, Stand, open_stand, served
from tests.support.client import ApiClient
from tests.support.execution import eventually, task
from tests.support.programs.replica_set import ReplicaSet

READERS, RUNS = 16, 20
PATIENCE = 0.5  # what a request waits here, so that answers come during the election
WORK_SECONDS = 12  # of each run: longer than the members take to elect a primary


@pytest.mark.slow
async def test_a_primary_that_hangs_is_answered_for_and_left(replica_set: ReplicaSet, tmp_path: Path) -> None:
    async with open_stand(replica_set.uri, tmp_path) as stand:
        # With the leases of every installation: an election may not cost a run its attempt.
        await stand.start_many(2, runs=DEFAULT_RUNS)
        one = task(task_type="noop", max_retries=20)
        others = [
            task(org_id=one.org_id, task_type="slow", parameters={"seconds": WORK_SECONDS}, max_retries=20)
            for _ in range(RUNS)
        ]
        await stand.world.add(one, *others)
        database = connect(stand.uri, stand.world.database.name, timeout_seconds=PATIENCE)
        async with served(database) as api:
            client, _ = api.client("tasks.operate", org_id=one.org_id)
            runs = [(await client.post(f"{SCHEDULES}/{other.id}/run")).json["id"] for other in others]
            await eventually(lambda: _all_begun(stand), seconds=60)
            hanging = await replica_set.hang_primary()
            try:
                first = await asyncio.gather(*(client.get(f"{SCHEDULES}/{one.id}") for _ in range(READERS)))
                refused = [response for response in first if response.status != 200]
                # Half the time of an election: nobody may sit it out.
                assert {response.status for response in refused} == {503}
                assert all("Retry-After" in response.headers for response in refused)
                await eventually(lambda: _good(client, one.id), seconds=60)
                await eventually(lambda: _all_completed(client, runs), seconds=120)
            finally:
                replica_set.wake(hanging)
        database.close()
        attempts = {row["_id"]: len(row["attempts"]) for row in await stand.world.all()}
        assert attempts == dict.fromkeys(runs, 1)
        await stand.nothing_broken()


async def _good(client: ApiClient, task_id: str) -> bool:
    return (await client.get(f"{SCHEDULES}/{task_id}")).status == 200


async def _all_begun(stand: Stand) -> bool:
    return len(await stand.world.all(state="running")) == RUNS


async def _all_completed(client: ApiClient, runs: list[str]) -> bool:
    answers = [await client.get(f"{EXECUTIONS}/{run}") for run in runs]
    return all(answer.status == 200 and answer.json["state"] == "completed" for answer in answers)
