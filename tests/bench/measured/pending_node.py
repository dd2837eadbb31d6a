"""One execution node as a process of its own, whose executor holds its slots until SIGUSR1.

`python -m tests.bench.measured.pending_node <uri> <database> <slots>`
"""

import asyncio
import signal
import sys

from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.plugin_api import RunContext
from netautod.store.connection import connect
from tests.bench.measuring.children import parent_gone, say
from tests.support.execution import Does, World


async def main(uri: str, name: str, slots: int) -> None:
    released = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, released.set)

    async def hold(context: RunContext) -> None:
        if context.parameters.get("hold"):
            await released.wait()

    database = connect(uri, name)
    world = World(database=database)
    runs = ExecutionSettings(slots=slots)
    async with world.node(Does(hold), runs=runs, schedule=SchedulerSettings()):
        say("ready")
        await parent_gone()
    database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
