"""A node dies while it polls: its polls are begun again by others, each one once; times at a tenth."""

import asyncio
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from netautod.assembly.data.leases import named_leases
from netautod.core.clock import SystemClock
from netautod.network.devices.polls.store import DUE
from tests.faults.poll_process import poller_on
from tests.network.devices.inventory import Inventory
from tests.network.discovery.polling.nodes import FakeFindings, FakeVisitor
from tests.support.execution import FAST, eventually

DEVICES = 5
# The lease of the dead node, and the look of another one.
TAKEOVER = timedelta(seconds=FAST.lease_seconds + 3)


async def test_the_polls_of_a_killed_node_are_taken_up_once(inventory: Inventory, mongo_uri: str) -> None:
    database, polls = inventory.database, inventory.installation.stores.polls
    devices = [
        (await inventory.device(name=f"sw{number}", poll_enabled=True))["id"] for number in range(DEVICES)
    ]
    past = {"$set": {DUE: datetime.now(UTC) - timedelta(seconds=1)}}
    await database.collection("devices").update_many({"live": True}, past)
    dying = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.faults.poll_process", mongo_uri, database.name),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert dying.stdout is not None
    begun = {(await dying.stdout.readline()).decode().strip() for _ in range(DEVICES)}
    assert begun == set(devices)
    dying.kill()
    killed_at = datetime.now(UTC)
    await dying.wait()

    async def ended() -> list[Any]:
        found = [poll for each in devices for poll in await polls.page(inventory.org_id, each, limit=9)]
        return found if all(poll.state == "completed" for poll in found) else []

    visitors = [FakeVisitor(), FakeVisitor()]
    async with AsyncExitStack() as stack:
        for visitor in visitors:
            opening = named_leases(
                database=database, node_id=str(uuid4()), clock=SystemClock(), settings=FAST
            )
            leases = await stack.enter_async_context(opening)
            poller = poller_on(database, visitor, FakeFindings(), leases)
            await stack.enter_async_context(poller)
        found = await eventually(ended, seconds=30)
    assert sorted(visitors[0].visited + visitors[1].visited) == sorted(devices)
    assert [poll.attempt for poll in found] == [2] * DEVICES
    assert max(poll.started_at for poll in found) - killed_at < TAKEOVER
