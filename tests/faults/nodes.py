"""Node processes and the database they share: started, killed, paused and stopped by the tests."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.automation.tasks.parameters import SchemaRules
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.connection import connect
from netautod.store.indexes import create_indexes
from tests.faults.clocks import SettableClock
from tests.faults.executors import KINDS, SENT
from tests.faults.history import History, followed
from tests.faults.node_process import NodeConfig
from tests.support.client import ServedRoutes
from tests.support.execution import FAST, FAST_SCAN, FinishedRuns, World, task_services
from tests.support.programs.service import run
from tests.support.programs.started import ROOT, started
from tests.support.serving import Servers

SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"
START_SECONDS = 40.0
DEFAULT_RUNS = ExecutionSettings()
# A tenth of the default, like the leases in FAST.
FAST_DRAIN_SECONDS = 3.0


@dataclass(kw_only=True)
class NodeProcess:
    """A running node; `clock_error` is how far its clock is from ours, in seconds."""

    id: str
    process: Process
    clock_error: float

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        await self.process.wait()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    async def stop(self) -> dict[str, int]:
        """SIGTERM; answers the metrics that the node ends with."""
        self.process.terminate()
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), 20)
        code = await self.process.wait()
        assert code == 0, code
        metrics: dict[str, int] = json.loads(line)
        return metrics

    async def killed(self, seconds: float) -> None:
        """Returns when the process has died by SIGKILL of its own hand."""
        assert await asyncio.wait_for(self.process.wait(), seconds) == -signal.SIGKILL


@dataclass(kw_only=True)
class Stand:
    """One database with its history, and the nodes of one scenario."""

    uri: str
    world: World
    history: History
    folder: Path
    stack: AsyncExitStack
    nodes: list[NodeProcess] = field(default_factory=list)

    async def start(
        self,
        *,
        runs: ExecutionSettings = FAST,
        schedule: SchedulerSettings = FAST_SCAN,
        drain_seconds: float = FAST_DRAIN_SECONDS,
        die_at: str | None = None,
        clock_seconds: int = 0,
        clock: SettableClock | None = None,
    ) -> NodeProcess:
        """A node that is ready; `clock_seconds` sets its clock wrong, `clock` is one that the test sets."""
        config = NodeConfig(
            node_id=f"node-{uuid4().hex[:8]}",
            uri=self.uri,
            database=self.world.database.name,
            runs=asdict(runs),
            schedule=asdict(schedule),
            drain_seconds=drain_seconds,
            die_at=die_at,
            faked_clock=clock_seconds != 0 or clock is not None,
        )
        environment = {**os.environ, **(await _wrong_clock(clock_seconds) if clock_seconds else {})}
        environment |= {} if clock is None else clock.environment
        log = self.folder / f"{config.node_id}.log"
        command = (sys.executable, "-m", "tests.faults.node_process", json.dumps(asdict(config)))
        running = started(*command, slow_to_leave=True, log=log, cwd=ROOT, env=environment, stdout=PIPE)
        process = await self.stack.enter_async_context(running)
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
        assert line, log.read_text()[-2000:]
        clock_error = float(json.loads(line)["clock"]) - datetime.now(UTC).timestamp()
        node = NodeProcess(id=config.node_id, process=process, clock_error=clock_error)
        self.nodes.append(node)
        return node

    def log_of(self, node: NodeProcess) -> list[str]:
        """The lines that a node has logged."""
        return (self.folder / f"{node.id}.log").read_text().splitlines()

    async def start_many(self, count: int, **options: Any) -> list[NodeProcess]:
        return list(await asyncio.gather(*(self.start(**options) for _ in range(count))))

    def node(self, node_id: str) -> NodeProcess:
        return next(node for node in self.nodes if node.id == node_id)

    async def sent(self, **where: Any) -> list[dict[str, Any]]:
        """The commands that left for devices, in the order of the server's clock."""
        return await self.world.database.collection(SENT).find(where, sort=[("at", 1)])

    async def nothing_broken(self) -> None:
        """No execution made a forbidden move, none is left unfinished."""
        await self.no_forbidden_moves()
        unfinished = await self.history.unfinished()
        assert not unfinished, unfinished

    async def no_forbidden_moves(self) -> None:
        """No execution left a terminal state, or went where TRANSITIONS does not lead."""
        broken = await self.history.broken()
        assert not broken, broken


@asynccontextmanager
async def open_stand(uri: str, folder: Path, name: str | None = None) -> AsyncIterator[Stand]:
    """A fresh database on the server, or that of the name; what is left of the nodes is killed at the end."""
    name = name or f"f{uuid4().hex[:20]}"
    folder = folder / name
    folder.mkdir()
    database = connect(uri, name)
    async with AsyncExitStack() as stack:
        stack.callback(database.close)
        await create_indexes(database, INDEXES)
        stack.push_async_callback(database.drop)
        history = await stack.enter_async_context(followed(uri, name))
        yield Stand(uri=uri, world=World(database=database), history=history, folder=folder, stack=stack)


@asynccontextmanager
async def served(database: Database) -> AsyncIterator[ServedRoutes]:
    """The API of a node that executes nothing itself: every run and cancel reaches another process."""
    async with ServerClock(database) as clock, Servers() as servers:
        rules = SchemaRules(schemas=dict.fromkeys(KINDS), references={})
        yield await servers.serve(
            *task_services(database, clock=clock, rules=rules, observers=FinishedRuns())
        )


async def _wrong_clock(seconds: int) -> Mapping[str, str]:
    """The environment of a process whose clock is off; its monotonic clock stays true."""
    output = (await run("-f", "+0s", "env", command=("faketime",))).out
    preload = next(line for line in output.splitlines() if line.startswith("LD_PRELOAD="))
    return {
        "LD_PRELOAD": preload.removeprefix("LD_PRELOAD="),
        "FAKETIME": f"{seconds:+d}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
