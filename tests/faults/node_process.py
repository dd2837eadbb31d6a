"""One ExecutionNode as a process of its own, for tests that kill, stop and pause it.

`python -m tests.faults.node_process '<NodeConfig as JSON>'` prints one JSON line when it is ready and one
with its metrics after a graceful stop by SIGTERM.
"""

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsFloat, SupportsIndex, cast

from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import RunActing
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.connection import connect
from tests.faults.executors import KINDS, Wire, executor
from tests.support.execution import World


@dataclass(frozen=True, kw_only=True)
class NodeConfig:
    """`die_at`: the step of DIE_AT before which the process kills itself, once it gets there.

    `runs` and `schedule` are the fields of ExecutionSettings and SchedulerSettings.
    """

    node_id: str
    uri: str
    database: str
    runs: dict[str, Any]
    schedule: dict[str, Any]
    drain_seconds: float
    die_at: str | None = None
    faked_clock: bool = False


# Where the node dies: the owner of the step, and the step's name.
DIE_AT: dict[str, Callable[[ExecutionNode], tuple[object, str]]] = {
    "advance": lambda node: (node.scheduler._tasks, "advance"),
    "start": lambda node: (node.runner._tasks, "enabled_states"),
    "finish": lambda node: (node.runner, "_write_once"),
}


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def serve(config: NodeConfig) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    database = connect(config.uri, config.database)
    metrics = Metrics()
    async with ServerClock(database) as clock:
        node = _node(config, database, clock, metrics)
        if config.die_at is not None:
            owner, step = DIE_AT[config.die_at](node)
            setattr(owner, step, die)
        async with node:
            _say({"ready": config.node_id, "clock": time.time()})
            await stop.wait()
            await node.drain(config.drain_seconds)
    _say(metrics.snapshot())


def _node(config: NodeConfig, database: Database, clock: ServerClock, metrics: Metrics) -> ExecutionNode:
    def acting(work: Work, execution: Execution) -> RunActing:
        # Of the product's services the executors of these tests use none but the way to the device.
        return cast(RunActing, Wire(database=database, node=config.node_id, guard=work.guard))

    world = World(database=database, metrics=metrics, clock=clock, acting=acting)
    world.finished.deaf = True
    return world.node(
        *(executor(config.node_id, task_type) for task_type in KINDS),
        node_id=config.node_id,
        runs=ExecutionSettings(**config.runs),
        schedule=SchedulerSettings(**config.schedule),
    )


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _sleep(seconds: SupportsFloat | SupportsIndex) -> None:
    threading.Event().wait(float(seconds))


def main() -> None:
    config = NodeConfig(**json.loads(sys.argv[1]))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    if config.faked_clock:
        # libfaketime 0.9.10 with a true monotonic clock breaks clock_nanosleep, which the driver's monitor
        # uses through time.sleep: https://github.com/wolfcw/libfaketime/issues/426
        time.sleep = _sleep
    loop = asyncio.new_event_loop()
    loop.run_until_complete(serve(config))
    # Not asyncio.run: it would wait for an executor that ignores its cancellation.
    os._exit(0)


if __name__ == "__main__":
    main()
