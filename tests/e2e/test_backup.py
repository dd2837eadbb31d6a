"""Backup tasks of the whole service: versions, snapshots, audit, refused logins, and a cancel."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncssh
import pytest

from netautod.network.devices.sessions.login_limits import MOST_REFUSALS
from netautod.testing import Faults, SimulatedDevice
from tests.e2e.console import CONFIGS, EXECUTIONS, Console


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def started(stack: AsyncExitStack, count: int, name: str) -> list[SimulatedDevice]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    return [
        await stack.enter_async_context(SimulatedDevice(hostname=f"{name}{number:02}", host_key=key))
        for number in range(count)
    ]


async def test_every_device_is_stored_and_a_snapshot_made(console: Console, stack: AsyncExitStack) -> None:
    credential = await console.credential("every device")
    options = {"site": "every device", "default_credential_id": credential}
    devices = [
        await console.device(switch.hostname, switch.port, **options)
        for switch in await started(stack, 3, "every-device")
    ]
    task = await console.backup("every device", "every device")
    first, again = await console.run(task), await console.run(task)
    counts = {"devices_total": 3, "succeeded": 3, "failed": 0}
    for run, changed in ((first, 3), (again, 0)):
        assert run["output"].items() >= {**counts, "changed": changed, "unchanged": 3 - changed}.items()
        assert run["progress"] == {"done": 3, "total": 3}
        snapshot = await console.read(f"/api/config/snapshots/{run['output']['snapshot_id']}")
        assert sorted(row["device_id"] for row in snapshot["configs"]) == sorted(devices)
        assert {row["credential_id"] for row in run["output"]["results"]} == {credential}
        used = await console.read(f"/api/audit?action=credential.use&resource_id={credential}")
        assert {"execution_id": run["id"]} in [event["details"] for event in used["events"]]
    newest = await console.read(f"{CONFIGS}/{devices[0]}/configs/latest")
    assert (newest["version"], newest["pulled_via"]) == (1, "task")


async def test_a_wrong_credential_is_tried_five_times_and_never_again(
    console: Console, stack: AsyncExitStack
) -> None:
    right, wrong = await console.credential("right"), await console.credential("guess", secret="guess")
    switches = await started(stack, 25, "guess")
    for switch in switches:
        await console.device(switch.hostname, switch.port, site="guess", default_credential_id=right)
    parameters = {"device_filter": {"site": "guess"}, "credential_id": wrong.upper()}
    done = await console.run(await console.backup("guess", "guess", parameters=parameters, max_retries=5))
    assert (done["state"], done["retry_count"]) == ("failed", 0)
    assert done["error_message"] == "25 of 25 devices failed"
    assert sum(len(switch.login_attempts) for switch in switches) == MOST_REFUSALS
    results = done["output"]["results"]
    assert {(one["error_kind"], one["credential_id"]) for one in results} == {("auth", wrong)}
    assert sum("not visited: 5 logins in a row" in one["error"] for one in results) == 20


async def test_a_cancelled_run_closes_its_sessions(console: Console, stack: AsyncExitStack) -> None:
    [switch] = await started(stack, 1, "stuck")
    switch.faults = Faults(stop_after=200)
    credential = await console.credential("stuck")
    device = await console.device("stuck", switch.port, site="stuck", default_credential_id=credential)
    run = await console.start(await console.backup("stuck", "stuck"))
    await switch.wait_until(lambda seen: "show running-config" in seen.commands, seconds=20)
    assert (await console.client.post(f"{EXECUTIONS}/{run}/cancel")).status == 204
    await switch.wait_until(lambda seen: seen.open_connections == 0, seconds=20)
    ended = await console.ended(run)
    assert (ended["state"], ended["output"]) == ("cancelled", None)
    assert await console.versions(device) == []
