"""Executors that hold the event loop up, or want to end the process: the run fails, the service goes on."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.guide import write_entry_point
from tests.support.programs.service import Service, serving

pytestmark = pytest.mark.slow
PLUGIN = """
import asyncio
import re
import sys
import time

from netautod.plugin_api import hookimpl


class Kind:
    parameters_schema, idempotent = None, True

    def __init__(self, work):
        self.task_type, self._work = work.__name__, work

    async def run(self, context):
        return await self._work(context)


class Threaded:
    task_type, parameters_schema, idempotent, blocking = "threaded", None, True, True

    def run(self, context):
        context.log("info", "begins")
        if context.parameters.get("what"):
            FAILURES[context.parameters["what"]]()
        if context.parameters.get("lock"):
            re.match("(a+)+$", "a" * 64 + "b")
        time.sleep(40)


async def sleeps(context):
    time.sleep(400)


async def computes(context):
    while True:
        pass


async def holds_the_lock(context):
    re.match("(a+)+$", "a" * 64 + "b")


async def in_a_child(context):
    async def child():
        await asyncio.sleep(0)
        time.sleep(400)

    await asyncio.gather(child())


async def in_a_callback(context):
    asyncio.get_running_loop().call_later(0.01, time.sleep, 400)
    await asyncio.Event().wait()


def exits():
    sys.exit(3)


def interrupts():
    raise KeyboardInterrupt


def recurses():
    recurses()


def no_memory():
    bytearray(2**62)


async def fails(context):
    what, where = FAILURES[context.parameters["what"]], context.parameters["where"]
    if where == "in run":
        what()
    async def child():
        await asyncio.sleep(0)
        what()
    if where == "in a task of its own":
        await asyncio.gather(child())
    if where == "in a task that nobody waits for":
        left = asyncio.create_task(child())
        await asyncio.wait({left})
        raise RuntimeError("as nobody waits for it")
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(what))


FAILURES = {what.__name__: what for what in (exits, interrupts, recurses, no_memory)}


async def waits(context):
    await asyncio.sleep(context.parameters["seconds"])


@hookimpl
def netautod_register_executors(register):
    for work in (
        sleeps, computes, holds_the_lock, in_a_child, in_a_callback, fails, waits,
    ):
        register(Kind(work))
    register(Threaded())
"""


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    folder = tmp_path_factory.mktemp("blocking")
    (folder / "blocky.py").write_text(PLUGIN)
    write_entry_point("blocky", folder)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {"PYTHONPATH": path, "NETAUTOD_SERVER_MAX_STALL_SECONDS": "4"}
    async with serving(folder / "data", variables=variables) as running:
        yield running


@pytest.fixture(scope="module")
async def console(service: Service) -> Console:
    return Console(client=await service.client())


def the_log(service: Service) -> str:
    return service.log.read_text()


async def ready(service: Service) -> bool:
    """Whether the service answers; the connection to one that is killed meanwhile breaks."""
    try:
        return (await (await service.anonymous()).get("/health")).status == 200
    except Exception:  # noqa: BLE001  # it has to come back, however it is away
        return False


@pytest.mark.parametrize(
    ("task_type", "parameters", "place"),
    [
        pytest.param("sleeps", {}, "in sleeps", id="it sleeps"),
        pytest.param("computes", {}, "in computes", id="it computes without end"),
        pytest.param("holds_the_lock", {}, "in match", id="a C function holds the interpreter lock"),
        pytest.param("in_a_child", {}, "in child", id="a task that it has started"),
        pytest.param("in_a_callback", {}, "in step", id="a callback that it has left"),
        pytest.param("threaded", {"lock": True}, "in match", id="a C function holds the lock in a thread"),
    ],
)
async def test_a_run_that_blocks_fails_for_good_and_the_others_are_handed_back(
    service: Service, console: Console, task_type: str, parameters: dict[str, object], place: str
) -> None:
    at = len(the_log(service))
    name = f"blocks: {task_type} {parameters}"
    other = await console.start(await console.task(f"beside {name}", "waits", parameters={"seconds": 6}))
    await console.until(other, "running")
    options = {"max_retries": 3, "retry_delay_seconds": 0}
    task = await console.task(name, task_type, parameters=parameters, **options)
    run = ""
    with suppress(Exception):  # it may block before the request that starts it is answered
        run = await console.start(task)

    async def given_up() -> bool:
        return "started again" in the_log(service)[at:]

    await eventually(given_up, seconds=60)
    await eventually(lambda: ready(service), seconds=60)
    if not run:
        found = await console.read(f"/api/tasks/executions?task_id={task}")
        run = found["executions"][0]["id"]
    ended = await console.ended(run, seconds=60)
    assert (ended["state"], ended["retry_count"], len(ended["attempts"])) == ("failed", 0, 1)
    assert "blocked its node for" in ended["error_message"]
    assert place in ended["error_message"]
    assert (await console.ended(other, seconds=60))["state"] == "completed"
    said = the_log(service)[at:]
    # Of a thread on a loaded machine that is not clear yet at the first look.
    assert f"the task {name!r} (execution {run}) in the plugin blocky" in said
    assert "; stack: " in said


@pytest.mark.parametrize("what", ["exits", "interrupts", "recurses", "no_memory"])
@pytest.mark.parametrize(
    ("task_type", "where"),
    [
        pytest.param("fails", "in run", id="in run"),
        pytest.param("fails", "in a task of its own", id="in a task that it has started"),
        pytest.param("fails", "in a task that nobody waits for", id="in a task that it does not wait for"),
        pytest.param("fails", "in a thread", id="in a thread that it waits for"),
        pytest.param("threaded", "in run", id="in the thread of a blocking executor"),
    ],
)
async def test_what_would_end_the_process_fails_its_run(
    service: Service, console: Console, task_type: str, where: str, what: str
) -> None:
    at = len(the_log(service))
    parameters = {"what": what, "where": where}
    task = await console.task(f"{what} {where} {task_type}", task_type, parameters=parameters, max_retries=0)
    ended = await console.ended(await console.start(task), seconds=60)
    assert (ended["state"], len(ended["attempts"])) == ("failed", 1)
    assert "failed unexpectedly" in ended["error_message"]
    assert "started again" not in the_log(service)[at:]


async def test_a_machine_that_was_stopped_has_not_stalled(service: Service, console: Console) -> None:
    at = len(the_log(service))
    [worker] = _children(service.process.pid)
    os.kill(worker, signal.SIGSTOP)
    looks = _switches(service.process.pid)

    async def watched_for_long() -> bool:
        """A hundred looks of the watching process: many times what it would give up after."""
        return _switches(service.process.pid) > looks + 40

    await eventually(watched_for_long, seconds=120)
    os.kill(worker, signal.SIGCONT)
    await eventually(lambda: ready(service), seconds=60)
    assert _children(service.process.pid) == [worker]
    assert "held up" not in the_log(service)[at:]


async def test_a_blocking_executor_leaves_the_service_free(service: Service, console: Console) -> None:
    task = await console.task("polite", "threaded", timeout_seconds=1)
    ended = await console.ended(await console.start(task), seconds=60)
    assert (ended["state"], ended["error_message"]) == ("timeout", "the run took longer than 1 seconds")


async def test_the_service_is_started_again_when_it_dies_and_dies_with_its_watchdog(service: Service) -> None:
    [worker] = _children(service.process.pid)
    os.kill(worker, signal.SIGKILL)

    async def another() -> bool:
        return _children(service.process.pid) not in ([], [worker]) and await ready(service)

    await eventually(another, seconds=60)
    [worker] = _children(service.process.pid)
    await service.kill()
    await eventually(lambda: _gone(worker), seconds=30)


async def _gone(pid: int) -> bool:
    return _is_gone(pid)


def _is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists() or _stat(pid)[0] == "Z"


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [pid for pid in map(int, text.split()) if _stat(pid)[0] != "Z"]


def _switches(pid: int) -> int:
    """How often the process has gone to sleep."""
    [line] = [
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("voluntary")
    ]
    return int(line.split()[1])
