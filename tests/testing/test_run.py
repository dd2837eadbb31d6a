"""Runs of executors without a server: each end as the service would judge it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import pytest
from marshmallow import Schema, fields

from netautod.plugin_api import (
    AddressRefused,
    ApprovalDecision,
    CommandOutcome,
    DeviceFailed,
    DeviceResult,
    ExecutionFailed,
    NeedsApproval,
    OutboundRequest,
    PermanentFailure,
    RunContext,
)
from netautod.testing import LogLine, RunDevice, SimulatedDevice, run_executor
from tests.support.servers.webhook_receiver import receiving

Work = Callable[[RunContext], Awaitable[Any]]
GENERIC = "the executor failed unexpectedly; the service log has the details"


class Parameters(Schema):
    count = fields.Integer(strict=True, load_default=1)


class Does:
    """An executor that does what the test says."""

    task_type: ClassVar[str] = "custom"
    parameters_schema: ClassVar[type[Schema] | None] = Parameters
    idempotent: ClassVar[bool] = True

    def __init__(self, work: Work) -> None:
        self._work = work

    async def run(self, context: RunContext) -> Any:
        return await self._work(context)


def answering(value: Any) -> Does:
    async def work(context: RunContext) -> Any:
        return value

    return Does(work)


def raising(error: BaseException) -> Does:
    async def work(context: RunContext) -> Any:
        raise error

    return Does(work)


@pytest.mark.parametrize(
    ("executor", "state", "output", "error"),
    [
        pytest.param(answering({"a": [1]}), "completed", {"a": [1]}, None, id="a JSON value"),
        pytest.param(answering({1, 2}), "failed", None, "the executor's output is not a JSON", id="a set"),
        pytest.param(answering("x" * 5_000_000), "failed", None, "is larger than", id="too much"),
        pytest.param(
            raising(ExecutionFailed("half", output=1)), "pending", 1, "half", id="a failure to be retried"
        ),
        pytest.param(raising(PermanentFailure("no")), "failed", None, "no", id="a failure for good"),
        pytest.param(
            raising(DeviceFailed("away", kind="timeout")), "pending", None, "away", id="a device that is away"
        ),
        pytest.param(
            raising(DeviceFailed("no", kind="auth")), "failed", None, "no", id="a device that refuses"
        ),
        pytest.param(raising(ZeroDivisionError("0")), "pending", None, GENERIC, id="any other exception"),
    ],
)
async def test_how_it_ends(executor: Does, state: str, output: Any, error: str | None) -> None:
    run = await run_executor(executor, max_retries=1)
    assert (run.state, run.output) == (state, output)
    assert error is None if run.error is None else str(error) in run.error


async def test_an_unexpected_exception_is_there_to_look_at() -> None:
    error = ZeroDivisionError("division by zero")
    run = await run_executor(raising(error))
    assert (run.state, run.error, run.exception) == ("failed", GENERIC, error)


async def test_parameters_are_checked_by_the_schema() -> None:
    run = await run_executor(answering(1), {"count": "many"}, max_retries=3)
    assert (run.state, run.exception) == ("failed", None)
    assert str(run.error).startswith("invalid parameters: {'count':")


async def test_a_run_that_takes_too_long() -> None:
    ended = asyncio.Event()

    async def work(context: RunContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    run = await run_executor(Does(work), timeout_seconds=0)
    assert (run.state, run.error) == ("timeout", "the run took longer than 0 seconds")
    assert ended.is_set()


async def test_what_an_executor_leaves_behind() -> None:
    async def work(context: RunContext) -> str:
        await context.log("info", "begun")
        await context.progress(1, 2)
        async for device in context.acting.devices(site="lab"):
            await context.log("debug", device.host, device.id)
            result = DeviceResult(device_id=device.id, device_name=device.name, success=True, duration_ms=1)
            await context.results.record(result)
        return f"{context.execution.task_name} {context.execution.attempt}"

    lab, other = RunDevice(name="a", site="lab"), RunDevice(name="b")
    run = await run_executor(Does(work), devices=[lab, other], task_name="nightly")
    assert (run.output, run.progress, list(run.results)) == ("nightly 1", (1, 2), ["a"])
    assert (run.totals.devices_total, run.totals.succeeded) == (1, 1)
    assert list(run.log) == [
        LogLine(level="info", text="attempt 1 started", device_id=None),
        LogLine(level="info", text="begun", device_id=None),
        LogLine(level="debug", text="192.0.2.1", device_id=lab.id),
    ]


async def test_the_attempt_after_a_failure_knows_what_was_settled() -> None:
    async def work(context: RunContext) -> Any:
        settled = await context.results.settled()
        async for device in context.acting.devices():
            good = context.execution.attempt > 1
            if device.id not in settled:
                await context.results.record(
                    DeviceResult(device_id=device.id, device_name=device.name, success=good, duration_ms=1)
                )
        if context.execution.attempt == 1:
            raise ExecutionFailed("again")
        return len(settled)

    devices = [RunDevice()]
    first = await run_executor(Does(work), {"count": 7}, devices=devices, max_retries=1)
    assert (first.state, first.totals.failed) == ("pending", 1)
    second = await run_executor(Does(work), devices=devices, previous=first)
    assert (second.state, second.output, second.totals.succeeded) == ("completed", 0, 1)
    assert second.execution.parameters == {"count": 7}
    with pytest.raises(ValueError, match="nothing follows a run that is completed"):
        await run_executor(Does(work), previous=second)


@pytest.mark.parametrize("decision", [None, "approved"])
async def test_an_approval_and_what_was_saved_for_it(decision: str | None) -> None:
    async def work(context: RunContext) -> Any:
        if context.approval is None:
            raise NeedsApproval({"why": "it reboots"}, state={"step": 2})
        return [context.approval.decision, context.approval.by, context.resume, context.execution.attempt]

    parked = await run_executor(Does(work))
    assert (parked.state, parked.request, parked.resume) == (
        "approval_pending",
        {"why": "it reboots"},
        {"step": 2},
    )
    given = None
    if decision is not None:
        given = ApprovalDecision(decision=decision, by="ada", comment=None, at=parked.execution.created_at)
    done = await run_executor(Does(work), previous=parked, approval=given)
    assert done.output == ["approved", "approver" if given is None else "ada", {"step": 2}, 2]


async def ran(command: str, *devices: RunDevice | SimulatedDevice, **options: Any) -> Any:
    async def work(context: RunContext) -> Any:
        outcomes.extend(
            [await context.acting.run_command(one.id, command) async for one in context.acting.devices()]
        )

    outcomes: list[CommandOutcome] = []
    run = await run_executor(Does(work), devices=devices, **options)
    return run, [(one.success, one.output, one.error) for one in outcomes]


async def test_commands() -> None:
    away = DeviceFailed("no answer", kind="timeout", partial="12:")
    clock = RunDevice(name="a", responses={"show clock": "12:00"}, id="1")
    slow = RunDevice(name="b", responses={"show clock": away}, id="2")
    bare = RunDevice(name="c", id="3")
    _, outcomes = await ran("show clock", clock, slow, bare)
    assert outcomes == [
        (True, "12:00", None),
        (False, "12:", "timeout: no answer"),
        (False, "", "refused_command: unknown command: show clock"),
    ]
    assert clock.commands == ["show clock"]
    refused, _ = await ran("show clock", clock, permissions=["devices.access"])
    assert (refused.state, refused.error) == ("failed", "Insufficient permissions")
    two_lines, _ = await ran("a\nb", clock)
    assert isinstance(two_lines.exception, ValueError)


async def test_a_simulated_device_is_the_same_one_in_the_next_attempt() -> None:
    async def work(context: RunContext) -> Any:
        settled = await context.results.settled()
        async for device in context.acting.devices():
            if device.id in settled:
                return "nothing to do"
            result = DeviceResult(device_id=device.id, device_name=device.name, success=True, duration_ms=1)
            await context.results.record(result)
        raise ExecutionFailed("half")

    switch = SimulatedDevice()
    first = await run_executor(Does(work), devices=[switch], max_retries=1)
    second = await run_executor(Does(work), devices=[switch], previous=first)
    assert (first.state, second.output) == ("pending", "nothing to do")


async def test_commands_over_ssh() -> None:
    async with SimulatedDevice(responses={"show clock": "06:44:12 UTC\n"}) as switch:
        assert (await ran("show clock", switch))[1] == [(True, "06:44:12 UTC", None)]
        [(success, _, error)] = (await ran("show nonsense", switch))[1]
        assert (success, error.partition(":")[0]) == (False, "refused_command")


async def test_requests_end_with_the_attempt_and_stay_on_this_machine() -> None:
    kept: list[RunContext] = []

    async def work(context: RunContext) -> int:
        kept.append(context)
        return (await context.http.fetch(request)).status

    async with receiving() as receiver:
        request = OutboundRequest(url=receiver.url, method="POST", body=b"{}")
        assert (await run_executor(Does(work))).output == 204
        with pytest.raises(Exception, match="the attempt is over"):
            await kept[0].http.fetch(request)
        refused = await run_executor(Does(work), allow=())
        assert isinstance(refused.exception, AddressRefused)
        assert len(receiver.received) == 1
