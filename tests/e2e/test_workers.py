"""`netautod serve --workers 2`: two equal processes on one socket, and a plugin that kills its own.

The first tests run in their order on one service: the last of them stops it.
"""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attackers.raw import Answer, ask
from tests.e2e.console import TERMINAL, Console
from tests.support.execution import eventually
from tests.support.fetching import fetch_found
from tests.support.programs.service import QUICK_LEASES, Service, serving
from tests.support.programs.started import free_port

pytestmark = pytest.mark.slow

PLUGIN = """
import asyncio
import os
import signal

from netautod.plugin_api import hookimpl


class Deadly:
    task_type, parameters_schema, idempotent = "deadly", None, True

    async def run(self, context):
        await context.log("info", "killing %d" % os.getpid())
        await asyncio.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)


class Sleepy:
    task_type, parameters_schema, idempotent = "sleepy", None, True

    async def run(self, context):
        await asyncio.sleep(context.parameters["seconds"])
        return os.getpid()


@hookimpl
def netautod_register_executors(register):
    register(Deadly())
    register(Sleepy())
"""


@pytest.fixture(scope="module")
def metrics_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
async def two_workers(tmp_path_factory: pytest.TempPathFactory, metrics_port: int) -> AsyncIterator[Service]:
    """It finds a plugin that nobody installed."""
    folder = tmp_path_factory.mktemp("workers")
    variables = {**with_plugin(folder / "plugin"), "NETAUTOD_METRICS_PORT": str(metrics_port)}
    async with serving(folder / "data", "--workers", "2", variables=variables) as made:
        yield made


@pytest.fixture(scope="module")
async def their_console(two_workers: Service) -> Console:
    return Console(client=await two_workers.client())


def with_plugin(folder: Path) -> dict[str, str]:
    information = folder / "deadly_plugin-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "deadly_plugin.py").write_text(PLUGIN)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: deadly-plugin\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[netautod]\ndeadly = deadly_plugin\n")
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(folder), *([inherited] if inherited else [])])
    return {**QUICK_LEASES, "PYTHONPATH": path}


async def test_two_workers_serve(two_workers: Service, their_console: Console) -> None:
    assert len(await eventually(lambda: _workers(two_workers))) == 2
    for number in range(20):  # both processes answer: connections go to whoever accepts first
        await their_console.credential(f"credential {number}")
    assert (await their_console.read("/api/credentials"))["total"] == 20


async def test_workers_that_are_killed_are_started_again_and_counted(
    two_workers: Service, metrics_port: int
) -> None:
    """With the processes that watch them, so that it is up to the supervisor."""
    assert await _told(metrics_port, "process_restarts_total") == [0, 0]
    for worker in await _workers(two_workers):
        os.kill(worker, signal.SIGKILL)

    async def again() -> bool:
        return await _told(metrics_port, "process_restarts_total") == [1, 1]

    await eventually(again, seconds=60)
    assert await _told(metrics_port, "worker_up") == [1, 1]


async def test_an_executor_that_kills_its_process_disturbs_no_other_worker(
    two_workers: Service, their_console: Console, metrics_port: int
) -> None:
    before = await _told(metrics_port, "process_restarts_total")
    sleepers = []
    for number in range(12):
        task = await their_console.task(
            f"sleepy {number}", "sleepy", parameters={"seconds": 6}, retry_delay_seconds=0
        )
        sleepers.append(await their_console.start(task))
    for sleeper in sleepers:
        await their_console.until(sleeper, "running")
    deadly = await their_console.task("deadly", "deadly", max_retries=1, retry_delay_seconds=0)
    run = await their_console.start(deadly)
    ended = await eventually(lambda: _ended(their_console, run), seconds=60)
    assert (ended["state"], ended["error_message"], ended["retry_count"]) == ("failed", "node lost", 1)
    killed = {attempt["node"] for attempt in ended["attempts"]}
    assert len(ended["attempts"]) == 2
    undisturbed = 0
    for sleeper in sleepers:
        done = await their_console.ended(sleeper, seconds=60)
        assert done["state"] == "completed"
        assert all(attempt["node"] in killed for attempt in done["attempts"][:-1])
        undisturbed += len(done["attempts"]) == 1
    assert undisturbed > 0 or len(killed) == 2
    # Both are there again, and serve.
    assert len(await eventually(lambda: _workers(two_workers), seconds=60)) == 2
    await their_console.run(await their_console.task("after", "sleepy", parameters={"seconds": 0}))
    assert sum(await _told(metrics_port, "process_restarts_total")) == sum(before) + 2


async def test_new_connections_are_answered_while_the_service_waits_for_its_runs_and_stops(
    two_workers: Service, their_console: Console
) -> None:
    """By the workers that wait, also when the signal comes to all processes at once, as from systemd."""
    task = await their_console.task("sleepy", "sleepy", parameters={"seconds": 20})
    run = await their_console.start(task)
    await eventually(lambda: _running(their_console, run))
    workers = await _workers(two_workers)
    for worker in workers:
        os.kill(worker, signal.SIGTERM)
    stopping = asyncio.create_task(two_workers.stop())
    answer = await eventually(lambda: _turned_away(two_workers))
    assert answer.json == {"error": "draining"}
    assert int(answer.headers["retry-after"]) > 0
    assert await stopping == 0
    await eventually(lambda: _gone(workers))


async def test_workers_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", "--workers", "2", variables=QUICK_LEASES) as service:
        workers = await eventually(lambda: _workers(service))
        await service.kill()
        await eventually(lambda: _gone(workers), seconds=30)


async def _told(metrics_port: int, name: str) -> list[float]:
    """On the page of metrics, of each worker that answers."""
    answer = await fetch_found(f"http://127.0.0.1:{metrics_port}/metrics")
    found = re.findall(rf"^netautod_{name}\{{.*\}} (.*)$", answer.body.decode(), re.MULTILINE)
    return [float(value) for value in found]


async def _workers(service: Service) -> list[int]:
    """Process ids of the two workers; empty until both run."""
    return _children(service.process.pid)


def _children(supervisor: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            command = (path.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == supervisor and b"--worker-fd" in command and state != "Z":
            found.append(int(path.parent.name))
    return found if len(found) == 2 else []


async def _gone(workers: list[int]) -> bool:
    return _all_gone(workers)


def _all_gone(workers: list[int]) -> bool:
    for pid in workers:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            return False
    return True


def test_the_number_of_workers_is_checked() -> None:
    from netautod.cli.entry import main

    for wrong in ("0", "-1", "65", "two"):
        with pytest.raises(SystemExit) as refused:
            main(["serve", "--workers", wrong])
        assert refused.value.code == 2


async def _ended(console: Console, run: str) -> dict[str, Any] | None:
    """None while it goes on, and for an answer that a worker took with it."""
    with suppress(Exception):
        found = await console.read(f"/api/tasks/executions/{run}")
        return found if found["state"] in TERMINAL else None
    return None


async def _running(console: Console, run: str) -> bool:
    return bool((await console.read(f"/api/tasks/executions/{run}"))["state"] == "running")


async def _turned_away(service: Service) -> Answer | None:
    answer = await ask(service.url, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return answer if answer.status == 503 else None
