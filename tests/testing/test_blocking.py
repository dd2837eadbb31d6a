"""Executors that run in a thread of their own: their context, how they end, and what is refused."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import pytest
from marshmallow import Schema

from netautod.automation.executions.running.registered_executors import WrongExecutor, prepared_executor
from netautod.plugin_api import (
    DeviceFailed,
    DeviceResult,
    ExecutionFailed,
    NeedsApproval,
    OutboundRequest,
    PermanentFailure,
    RunEnded,
    StorageRefused,
    SyncRunContext,
)
from netautod.testing import MemoryStorage, RunDevice, run_executor

Body = Callable[[SyncRunContext], Any]


class Blocks:
    """An executor that does what the test says, in a thread."""

    blocking: ClassVar[Literal[True]] = True
    task_type: ClassVar[str] = "blocks"
    parameters_schema: ClassVar[type[Schema] | None] = None
    idempotent: ClassVar[bool] = True

    def __init__(self, work: Body) -> None:
        self._work = work

    def run(self, context: SyncRunContext) -> Any:
        return self._work(context)


async def test_it_uses_everything_of_its_context_in_a_thread_of_its_own() -> None:
    def work(context: SyncRunContext) -> Any:
        assert threading.current_thread() is not threading.main_thread()
        for device in context.acting.devices():
            context.log("info", f"asking {device.name}", device.id)
            took = context.acting.run_command(device.id, context.parameters["command"])
            result = DeviceResult(
                device_id=device.id, device_name=device.name, success=took.success, duration_ms=1
            )
            context.results.record(result)
            captured = context.acting.capture_config(device.id)
            context.progress(1, 1)
        assert len(context.results.settled()) == 1
        context.acting.create_snapshot("now", context.results.totals())
        return [took.output, captured.version, context.execution.attempt, context.ended]

    switch = RunDevice(name="sw1", responses={"show uptime": "3 days"})
    run = await run_executor(Blocks(work), {"command": "show uptime"}, devices=[switch])
    assert (run.state, run.output, run.exception) == ("completed", ["3 days", 1, 1, False], None)
    assert (run.progress, run.totals.succeeded, list(run.snapshots.values())) == ((1, 1), 1, ["now"])
    assert "asking sw1" in [line.text for line in run.log]


async def test_it_waits_for_what_else_the_plugin_is_lent() -> None:
    storage, loop = MemoryStorage(), threading.current_thread()

    def work(context: SyncRunContext) -> Any:
        org_id = context.execution.org_id
        context.wait_for(storage.put(org_id, "key", {"n": 1}))
        with pytest.raises(StorageRefused):
            context.wait_for(storage.put(org_id, "no key", 1))
        found = context.wait_for(storage.get(org_id, "key"))
        return [found.value, threading.current_thread() is loop] if found else None

    run = await run_executor(Blocks(work))
    assert (run.state, run.output) == ("completed", [{"n": 1}, False])


class _Everything:
    """An object that takes every call, and answers with its name."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **options: Any) -> str:
            self.calls.append((name, args, options))
            return name

        return call

    async def devices(self, **narrowed: Any) -> AsyncIterator[str]:
        self.calls.append(("devices", (), narrowed))
        yield "one"
        yield "two"


@pytest.mark.parametrize(
    ("call", "name", "args", "options"),
    [
        (lambda c: list(c.acting.devices()), "devices", (), {"site": None, "device_type": None}),
        (
            lambda c: list(c.acting.devices(site="s", device_type="t")),
            "devices",
            (),
            {"site": "s", "device_type": "t"},
        ),
        (lambda c: c.acting.capture_config("d"), "capture_config", ("d",), {"credential_id": None}),
        (
            lambda c: c.acting.capture_config("d", credential_id="k"),
            "capture_config",
            ("d",),
            {"credential_id": "k"},
        ),
        (lambda c: c.acting.run_command("d", "x"), "run_command", ("d", "x"), {"timeout_seconds": 30.0}),
        (
            lambda c: c.acting.run_command("d", "x", timeout_seconds=7),
            "run_command",
            ("d", "x"),
            {"timeout_seconds": 7},
        ),
        (lambda c: c.acting.create_snapshot("n", "totals"), "create_snapshot", ("n", "totals"), {}),
        (lambda c: c.results.record("r"), "record", ("r",), {}),
        (lambda c: c.results.settled(), "settled", (), {}),
        (lambda c: c.results.totals(), "totals", (), {}),
        (lambda c: c.http.check("u"), "check", ("u",), {}),
        (lambda c: c.http.fetch("q"), "fetch", ("q",), {}),
        (lambda c: c.log("info", "t", "d"), "log", ("info", "t", "d"), {}),
        (lambda c: c.log("info", "t"), "log", ("info", "t", None), {}),
        (lambda c: c.progress(1, 2), "progress", (1, 2), {}),
    ],
)
async def test_a_call_arrives_as_it_was_made(
    call: Body, name: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    all_of_it = _Everything()
    own = {"parameters": {"p": 1}, "approval": "a", "resume": "r"}
    context: Any = SimpleNamespace(
        execution=SimpleNamespace(id="1"),
        **own,
        **dict.fromkeys(("results", "acting", "http"), all_of_it),
        log=all_of_it.log,
        progress=all_of_it.progress,
    )
    seen: dict[str, Any] = {}

    def work(given: SyncRunContext) -> Any:
        seen.update({field: getattr(given, field) for field in own})
        return call(given)

    answer = await prepared_executor(Blocks(work)).run(context)
    assert all_of_it.calls == [(name, args, options)]
    returns_value = name in ("settled", "totals", "fetch", "capture_config", "run_command", "create_snapshot")
    assert answer == (["one", "two"] if name == "devices" else name if returns_value else None)
    assert seen == own


@pytest.mark.parametrize("idempotent", [True, False])
def test_what_it_declares_is_declared_of_the_thread(idempotent: bool) -> None:
    executor = Blocks(_command)
    declared: Any = executor
    declared.idempotent, declared.parameters_schema = idempotent, Schema
    made = prepared_executor(executor)
    assert (made.task_type, made.idempotent, made.parameters_schema) == ("blocks", idempotent, Schema)


def _raise(error: BaseException) -> Body:
    def work(context: SyncRunContext) -> Any:
        raise error

    return work


def _command(context: SyncRunContext) -> Any:
    [device] = context.acting.devices()
    return context.acting.run_command(device.id, "show version").output


def _refused_address(context: SyncRunContext) -> Any:
    context.http.check("http://127.0.0.2:1")
    return context.http.fetch(OutboundRequest(url="http://127.0.0.2:1"))


@pytest.mark.parametrize(
    ("work", "state", "error"),
    [
        pytest.param(_raise(ExecutionFailed("no answer")), "pending", "no answer", id="fails: tried again"),
        pytest.param(_raise(PermanentFailure("never")), "failed", "never", id="fails for good"),
        pytest.param(_raise(NeedsApproval({"why": 1})), "approval_pending", None, id="asks for approval"),
        pytest.param(
            _raise(DeviceFailed("no answer", kind="timeout")),
            "pending",
            "no answer",
            id="a device fails",
        ),
        pytest.param(_raise(SystemExit(3)), "pending", "failed unexpectedly", id="raises SystemExit"),
        pytest.param(_raise(KeyboardInterrupt()), "pending", "failed unexpectedly", id="KeyboardInterrupt"),
        pytest.param(_raise(MemoryError()), "pending", "failed unexpectedly", id="raises MemoryError"),
        pytest.param(_raise(RecursionError()), "pending", "failed unexpectedly", id="raises RecursionError"),
        pytest.param(_raise(GeneratorExit()), "pending", "failed unexpectedly", id="raises GeneratorExit"),
        pytest.param(_raise(StopIteration()), "pending", "failed unexpectedly", id="raises StopIteration"),
        pytest.param(_raise(asyncio.CancelledError()), "pending", "failed unexpectedly", id="CancelledError"),
        pytest.param(_command, "failed", "permission", id="without a permission: as over HTTP"),
        pytest.param(_refused_address, "failed", "address", id="a local address is refused"),
    ],
)
async def test_how_it_ends(work: Body, state: str, error: str | None) -> None:
    run = await run_executor(
        Blocks(work), devices=[RunDevice()], permissions=["devices.access"], allow=(), max_retries=1
    )
    assert run.state == state
    assert (error or "") in (run.error or "")


async def test_when_its_time_is_up_every_method_raises_even_one_under_way() -> None:
    raised = list[str]()

    def work(context: SyncRunContext) -> Any:
        try:
            context.acting.run_command("-", "reload")
        except RunEnded:
            raised.append("under way")
        for name, call in (
            ("log", lambda: context.log("info", "x")),
            ("progress", lambda: context.progress(1, 2)),
            ("devices", lambda: list(context.acting.devices())),
            ("settled", context.results.settled),
            ("check", lambda: context.http.check("http://x")),
        ):
            with pytest.raises(RunEnded):
                call()
            raised.append(name)
        raised.append(f"ended: {context.ended}")
        raise RunEnded

    hanging = _Hanging()
    run = await run_executor(Blocks(lambda context: work(hanging.around(context))), timeout_seconds=1)
    assert (run.state, run.error) == ("timeout", "the run took longer than 1 seconds")
    assert raised == ["under way", "log", "progress", "devices", "settled", "check", "ended: True"]


class _Hanging:
    """A context whose command has no answer: it waits on the loop for as long as it is let."""

    def around(self, context: SyncRunContext) -> SyncRunContext:
        async def never(device_id: str, command: str, *, timeout_seconds: float = 30.0) -> Any:
            await asyncio.Event().wait()

        acting: Any = context.acting
        acting._acting.run_command = never
        return context


async def test_threads_of_one_run_work_at_the_same_time_as_others() -> None:
    both = threading.Barrier(2)  # passed only if the two runs are in threads at the same time

    def work(context: SyncRunContext) -> Any:
        both.wait(30)
        return True

    runs = await asyncio.gather(*(run_executor(Blocks(work)) for _ in range(2)))
    assert [run.output for run in runs] == [True, True]


class _AsyncBlocks(Blocks):
    async def run(self, context: SyncRunContext) -> Any:
        return 1


class _Plain:
    task_type, parameters_schema, idempotent = "plain", None, True

    def run(self, context: Any) -> Any:
        return 1


class _Declares(_Plain):
    blocking = "yes"


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        pytest.param(_AsyncBlocks(_command), "must be a plain function, not an `async def`", id="async"),
        pytest.param(_Plain(), "a plain function needs `blocking = True`", id="plain, but not declared"),
        pytest.param(_Declares(), "`blocking` of the executor for plain is True or False", id="no bool"),
    ],
)
def test_an_executor_that_is_not_what_it_declares_is_refused(executor: Any, message: str) -> None:
    with pytest.raises(WrongExecutor, match=message):
        prepared_executor(executor)
