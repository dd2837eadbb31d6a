"""A node of the simulated fleet as a process of its own: its runs ask the database what a backup asks it.

`python -m tests.bench.measured.simulated_node <uri> <database> <slots> <seconds of a session>`

A run reads its device, holds the device's lease for the time of the session, records a result and logs a
line; what a session costs the node's processor besides is what bench_fleet measures.
"""

import asyncio
import sys
from uuid import uuid4

from netautod.assembly.data.leases import named_leases
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.plugin_api import DeviceResult, RunContext
from netautod.store.connection import connect
from netautod.store.scoped import scoped
from tests.bench.measuring.children import parent_gone, say
from tests.support.execution import Does, World

BUSY_SECONDS = 60.0


async def main(uri: str, name: str, slots: int, session_seconds: float) -> None:
    database = connect(uri, name)
    devices, runs = scoped(database, "devices"), ExecutionSettings(slots=slots)
    node_id = str(uuid4())
    opened = named_leases(database=database, node_id=node_id, clock=SystemClock(), settings=runs)
    async with opened as leases:

        async def back_up(context: RunContext) -> None:
            wanted = context.parameters
            device = await devices.find_one(OrgId(wanted["org_id"]), {"_id": wanted["device_id"]})
            assert device is not None
            async with leases.hold(f"device:{device['_id']}", wait_seconds=BUSY_SECONDS):
                await asyncio.sleep(session_seconds)
            result = DeviceResult(
                device_id=device["_id"],
                device_name=device["name"],
                success=True,
                duration_ms=int(session_seconds * 1000),
            )
            await context.results.record(result)
            await context.log("info", f"{device['name']}: unchanged")

        world = World(database=database)
        async with world.node(Does(back_up), node_id=node_id, runs=runs, schedule=SchedulerSettings()):
            say("ready")
            await parent_gone()
    database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
