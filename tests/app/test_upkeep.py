"""The periodic work of a node: the sweeps of all resources, in their order."""

import asyncio
from dataclasses import replace

from netautod.app.composition.upkeep import sweeping
from netautod.app.parts.leases import named_leases
from netautod.core.clock import SystemClock
from netautod.core.retention import RetentionSettings
from netautod.executions.settings import ExecutionSettings
from netautod.store.client import Database


async def test_each_pass_does_the_sweeps_one_after_the_other(database: Database) -> None:
    swept: list[str] = []
    done = asyncio.Event()

    async def first() -> None:
        await asyncio.sleep(0.01)
        swept.append("first")

    async def second() -> None:
        swept.append("second")
        done.set()

    settings = replace(RetentionSettings(), interval_seconds=0.01)
    leasing = named_leases(database=database, node_id="n", clock=SystemClock(), settings=ExecutionSettings())
    async with (
        leasing as leases,
        sweeping((first, second), leases=leases, settings=settings),
        asyncio.timeout(60),
    ):
        await done.wait()
    assert swept[:2] == ["first", "second"]
