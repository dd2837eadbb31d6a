"""The executor of backup tasks: which devices it visits, what it answers, what a retry does."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from netautod.plugin_api import DeviceFailed
from netautod.testing import ExecutorRun, Faults, RunDevice, SimulatedDevice, run_executor
from netautod_backup import BackupExecutor

BACKUP = BackupExecutor()


async def backed_up(*devices: RunDevice, **options: Any) -> ExecutorRun:
    return await run_executor(BACKUP, devices=devices, **options)


def texts(run: ExecutorRun, level: str) -> list[str]:
    return [line.text for line in run.log if line.level == level]


async def test_every_device_is_stored_and_a_snapshot_made() -> None:
    switches = [RunDevice(name=f"sw{number}") for number in range(3)]
    done = await backed_up(*switches, task_name="nightly")
    counts = {"devices_total": 3, "succeeded": 3, "failed": 0, "changed": 3, "unchanged": 0}
    [(snapshot_id, name)] = done.snapshots.items()
    named = {"snapshot_id": snapshot_id, "snapshot_name": "nightly"}
    assert (done.state, name, done.output) == ("completed", "nightly", {**named, **counts, "results": []})
    assert done.progress == (3, 3)
    again = await run_executor(BACKUP, {"snapshot_name": "second"}, devices=switches)
    assert (again.output["snapshot_name"], again.output["unchanged"]) == ("second", 3)
    found = again.results.values()
    assert {(one.success, one.changed, one.version) for one in found} == {(True, False, 1)}
    assert {one.credential_id for one in found} == {switch.credential_id for switch in switches}
    assert "sw0: unchanged since version 1" in texts(again, "info")


async def test_a_filter_that_matches_nothing_completes_with_zero() -> None:
    parameters = {"device_filter": {"site": "nowhere"}, "kept": {"any": "thing"}}
    done = await run_executor(BACKUP, parameters, devices=[RunDevice()])
    assert (done.output["devices_total"], done.output["succeeded"], done.output["failed"]) == (0, 0, 0)
    assert done.output["results"] == []


async def test_only_the_devices_of_the_filter_are_visited() -> None:
    inside, outside = RunDevice(name="in", site="lab"), RunDevice(name="out", site="office")
    other = RunDevice(name="other", site="lab", device_type="linux")
    parameters = {"device_filter": {"site": "lab", "device_type": "cisco_ios"}}
    done = await run_executor(BACKUP, parameters, devices=[inside, outside, other])
    assert list(done.results) == ["in"]
    assert (len(inside.versions), outside.versions, other.versions) == (1, [], [])


async def test_the_credential_of_the_task_is_used() -> None:
    wanted = "6a1e38a5-6a5b-4f0e-8f7e-0d7b5b3c9d21"
    done = await run_executor(BACKUP, {"credential_id": wanted}, devices=[RunDevice()])
    assert done.results["sw1"].credential_id == wanted


async def test_a_retry_visits_only_what_may_still_succeed() -> None:
    """Use 60 devices: 3 refuse the login, 2 are unreachable at first."""
    switches = [RunDevice(name=f"sw{number:02}") for number in range(60)]
    for number in (7, 23, 41):
        switches[number].config = DeviceFailed("the login is refused", kind="auth")
    for number in (11, 50):
        switches[number].config = DeviceFailed("nothing accepts the connection", kind="refused")
    first = await backed_up(*switches, max_retries=3)
    assert (first.state, first.error) == ("pending", "5 of 60 devices failed")
    assert (first.output["succeeded"], first.output["failed"]) == (55, 5)
    assert {first.results[name].error_kind for name in ("sw11", "sw50")} == {"refused"}
    for switch in switches:
        switch.config = "hostname later\n"
    done = await backed_up(*switches, previous=first)
    assert (done.state, done.error) == ("failed", "3 of 60 devices failed")  # no third attempt
    assert {switch.name for switch in switches if "hostname later\n" in switch.versions} == {"sw11", "sw50"}
    assert (done.output["devices_total"], done.output["succeeded"], done.output["failed"]) == (60, 57, 3)
    assert done.output["snapshot_id"] == first.output["snapshot_id"]
    assert sorted(name for name, one in done.results.items() if not one.success) == ["sw07", "sw23", "sw41"]
    assert (done.results["sw07"].error_kind, done.results["sw07"].final) == ("auth", True)
    assert "sw07: the login is refused" in texts(first, "warning")
    assert "58 devices are settled by an earlier attempt" in texts(done, "info")
    assert done.progress == (60, 60)


async def test_an_owner_without_access_to_devices_fails_without_a_retry() -> None:
    switch = RunDevice()
    done = await backed_up(switch, permissions=(), max_retries=3)
    assert (done.state, done.error, switch.versions) == ("failed", "Insufficient permissions", [])


async def test_over_ssh() -> None:
    async with AsyncExitStack() as stack:
        good = await stack.enter_async_context(SimulatedDevice(hostname="good"))
        faults = Faults(refuse_logins=True)
        strict = await stack.enter_async_context(SimulatedDevice(hostname="strict", faults=faults))
        done = await run_executor(BACKUP, devices=[good, strict])
        assert (len(good.login_attempts), len(strict.login_attempts)) == (1, 1)
    assert (done.state, done.error) == ("failed", "1 of 2 devices failed")
    assert (done.results["good"].version, done.results["strict"].error_kind) == (1, "auth")


async def test_a_cancelled_run_closes_its_sessions() -> None:
    async with SimulatedDevice(faults=Faults(stop_after=200)) as switch:
        running = asyncio.create_task(run_executor(BACKUP, devices=[switch]))
        await switch.wait_until(lambda device: "show running-config" in device.commands, seconds=10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await switch.wait_until(lambda device: device.open_connections == 0, seconds=10)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({}, id="nothing"),
        pytest.param(
            {
                "snapshot_name": "x",
                "device_filter": {},
                "credential_id": "6a1e38a5-6a5b-4f0e-8f7e-0d7b5b3c9d21",
            },
            id="everything",
        ),
        pytest.param({"device_filter": {"site": "a", "device_type": "b"}, "other": [1]}, id="another key"),
    ],
)
async def test_good_parameters(parameters: Any) -> None:
    assert (await run_executor(BACKUP, parameters)).state == "completed"


@pytest.mark.parametrize(
    ("parameters", "where"),
    [
        pytest.param({"snapshot_name": 7}, "snapshot_name", id="a name that is no text"),
        pytest.param({"device_filter": []}, "device_filter", id="a filter that is no object"),
        pytest.param({"device_filter": {"sites": "lab"}}, "device_filter", id="a typo in the filter"),
        pytest.param({"device_filter": {"site": {"$ne": ""}}}, "device_filter", id="an operator"),
        pytest.param({"device_filter": {"site": None}}, "device_filter", id="a null that would match all"),
        pytest.param({"credential_id": "x"}, "credential_id", id="a credential that is no uuid"),
    ],
)
async def test_bad_parameters(parameters: Any, where: str) -> None:
    refused = await run_executor(BACKUP, parameters, max_retries=3)
    assert (refused.state, refused.output) == ("failed", None)
    assert refused.error is not None
    assert refused.error.startswith(f"invalid parameters: {{'{where}':")
