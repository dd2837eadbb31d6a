"""Changed host keys: where they are seen, who decides about them, and what ends the question."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.store.scoped import scoped
from netautod.testing import SimulatedDevice
from netautod.transport.outbound.addresses import AddressRules
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID, created
from tests.support.client import assert_error
from tests.support.profiler import profiled
from tests.support.programs.sshd import PROGRAM, running_sshd

PROMPTS = "/api/host-keys/prompts"
FIELDS = {
    *("id", "host", "port", "device_id", "device_name", "is_changed_key"),
    *("fingerprint", "previous_fingerprint", "created_at"),
}
MOVER = ("devices.access", "devices.manage")


async def prompts(fleet: Fleet) -> list[Any]:
    listed: list[Any] = (await fleet.api.get(PROMPTS)).expect()
    return listed


async def pin(fleet: Fleet, device_id: str) -> str:
    return str((await fleet.api.get(f"/api/devices/{device_id}")).expect()["host_key_fingerprint"])


async def logs_in(fleet: Fleet, device_id: str) -> bool:
    return bool((await fleet.tested(device_id))["success"])


async def changed(fleet: Fleet, name: str = "sw1", **fields: Any) -> tuple[SimulatedDevice, str]:
    """A device that has been visited, and shows another key since."""
    switch = fleet.simulated(name)
    device_id = await fleet.device(switch, **fields)
    assert await logs_in(fleet, device_id)
    switch.change_host_key()
    return switch, device_id


def loopback_is_any_network(fleet: Fleet) -> None:
    """Else nobody connects to it for a device that is not vouched for."""
    fleet.sessions.reach = DeviceReach(rules=AddressRules.allowing(["127.0.0.1"]))


async def decide(fleet: Fleet, prompt: Any, decision: str) -> Any:
    return (await fleet.api.post(f"{PROMPTS}/{prompt['id']}/{decision}")).expect()


async def test_a_changed_key_waits_with_the_old_and_the_new_fingerprint(fleet: Fleet) -> None:
    switch, device_id = await changed(fleet)
    old = await pin(fleet, device_id)
    assert await prompts(fleet) == []
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    assert set(prompt) == FIELDS
    assert (prompt["device_id"], prompt["device_name"]) == (device_id, "sw1")
    assert (prompt["host"], prompt["port"], prompt["is_changed_key"]) == ("127.0.0.1", switch.port, True)
    assert (prompt["fingerprint"], prompt["previous_fingerprint"]) == (switch.fingerprint, old)
    assert not await logs_in(fleet, device_id)
    assert await prompts(fleet) == [prompt]
    assert len(switch.login_attempts) == 1


async def test_approving_pins_that_key_and_the_device_goes_on_working(fleet: Fleet) -> None:
    switch, device_id = await changed(fleet)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    assert await decide(fleet, prompt, "approve") == prompt
    assert (await prompts(fleet), await pin(fleet, device_id)) == ([], switch.fingerprint)
    assert await logs_in(fleet, device_id)
    (event,) = await fleet.audited("device.host_key_approve")
    assert (event["resource_id"], event["details"]["fingerprint"]) == (device_id, switch.fingerprint)
    assert event["details"]["previous_fingerprint"] == prompt["previous_fingerprint"]
    assert_error(await fleet.api.post(f"{PROMPTS}/{prompt['id']}/approve"), 404, "Host key prompt not found")


async def test_an_approved_key_is_not_whatever_key_comes_next(fleet: Fleet) -> None:
    switch, device_id = await changed(fleet)
    assert not await logs_in(fleet, device_id)
    (seen,) = await prompts(fleet)
    switch.change_host_key()
    assert not await logs_in(fleet, device_id)
    (newest,) = await prompts(fleet)
    assert (newest["fingerprint"], newest["id"] != seen["id"]) == (switch.fingerprint, True)
    assert_error(await fleet.api.post(f"{PROMPTS}/{seen['id']}/approve"), 404)
    await decide(fleet, newest, "approve")
    switch.change_host_key()
    assert not await logs_in(fleet, device_id)
    assert [each["previous_fingerprint"] for each in await prompts(fleet)] == [newest["fingerprint"]]


async def test_rejecting_keeps_the_old_key_and_background_work_asks_no_more(fleet: Fleet) -> None:
    switch, device_id = await changed(fleet)
    old = await pin(fleet, device_id)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    assert await decide(fleet, prompt, "reject") == prompt
    assert (await prompts(fleet), await pin(fleet, device_id)) == ([], old)
    (event,) = await fleet.audited("device.host_key_reject")
    assert event["details"]["fingerprint"] == prompt["fingerprint"]
    for decision in ("approve", "reject"):
        assert_error(await fleet.api.post(f"{PROMPTS}/{prompt['id']}/{decision}"), 404)
    await visited_by_a_run(fleet, device_id)
    assert await prompts(fleet) == []
    assert not await logs_in(fleet, device_id)
    (again,) = await prompts(fleet)  # a person has tried it
    assert (again["fingerprint"], again["id"] != prompt["id"]) == (prompt["fingerprint"], True)
    await decide(fleet, again, "reject")
    switch.change_host_key()
    await visited_by_a_run(fleet, device_id)
    assert [each["fingerprint"] for each in await prompts(fleet)] == [switch.fingerprint]


async def visited_by_a_run(fleet: Fleet, device_id: str) -> None:
    outcome = await fleet.acting(permission="devices.manage").run_command(device_id, "show version")
    assert outcome.error_kind == "host_key"


async def pulled(fleet: Fleet, device_id: str) -> None:
    assert (await fleet.api.post(f"/api/config/devices/{device_id}/pull")).status == 502


async def pulled_with_others(fleet: Fleet, device_id: str) -> None:
    assert (await fleet.posted("/api/config/devices/bulk-pull", device_ids=[device_id]))["failed"] == 1


async def commanded(fleet: Fleet, device_id: str) -> None:
    assert not (await fleet.ran(device_id, "show version"))["success"]


async def given_a_login(fleet: Fleet, device_id: str) -> None:
    assert not await logs_in(fleet, device_id)


async def given_a_bulk_login(fleet: Fleet, device_id: str) -> None:
    assert (await fleet.posted("/api/devices/bulk/test-credentials", device_ids=[device_id]))["failed"] == 1


async def on_another_node(fleet: Fleet, device_id: str) -> None:
    async with fleet.another_node() as sessions:
        with pytest.raises(Exception, match="host key changed"):
            async with sessions.scope(fleet.work()).open(device_id):
                pass


@pytest.mark.parametrize(
    "visit",
    [
        pytest.param(pulled, id="a pull"),
        pytest.param(pulled_with_others, id="a bulk pull"),
        pytest.param(commanded, id="a command"),
        pytest.param(given_a_login, id="a test"),
        pytest.param(given_a_bulk_login, id="a bulk test"),
        pytest.param(visited_by_a_run, id="a run"),
        pytest.param(on_another_node, id="another node"),
    ],
)
async def test_it_is_seen_by(fleet: Fleet, visit: Callable[[Fleet, str], Awaitable[None]]) -> None:
    _, device_id = await changed(fleet)
    await visit(fleet, device_id)
    assert [each["device_id"] for each in await prompts(fleet)] == [device_id]


async def test_it_is_that_of_the_jump_device_if_that_one_changed(fleet: Fleet) -> None:
    jump, jump_id = await changed(fleet, "jump")
    inner_id = await fleet.device(fleet.simulated("inner"), jump_device_id=jump_id)
    assert not await logs_in(fleet, inner_id)
    (prompt,) = await prompts(fleet)
    assert (prompt["device_id"], prompt["fingerprint"]) == (jump_id, jump.fingerprint)
    await decide(fleet, prompt, "approve")
    assert await logs_in(fleet, inner_id)


async def reset(fleet: Fleet, switch: SimulatedDevice, device_id: str) -> None:
    assert (await fleet.api.post(f"/api/devices/{device_id}/host-key/reset")).status == 204


async def deleted(fleet: Fleet, switch: SimulatedDevice, device_id: str) -> None:
    assert (await fleet.api.delete(f"/api/devices/{device_id}")).status == 204


async def old_key_again(fleet: Fleet, switch: SimulatedDevice, device_id: str) -> None:
    switch.host_key = fleet.host_key
    assert switch._acceptor is not None
    switch._acceptor.update(server_host_keys=[fleet.host_key])
    assert await logs_in(fleet, device_id)
    stored = await scoped(fleet.database, "devices").find(fleet.org_id, {"_id": device_id})
    assert "host_key_prompt" not in stored[0]


async def moved(fleet: Fleet, switch: SimulatedDevice, device_id: str) -> None:
    (await fleet.api.put(f"/api/devices/{device_id}", {"host": "localhost"})).expect()


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(reset, id="the pinned key is reset"),
        pytest.param(deleted, id="the device is deleted"),
        pytest.param(old_key_again, id="the old key answers again"),
        pytest.param(moved, id="the device is moved"),
    ],
)
async def test_the_question_ends_when(
    fleet: Fleet, end: Callable[[Fleet, SimulatedDevice, str], Awaitable[None]]
) -> None:
    switch, device_id = await changed(fleet)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    await end(fleet, switch, device_id)
    assert await prompts(fleet) == []
    for decision in ("approve", "reject"):
        assert_error(await fleet.api.post(f"{PROMPTS}/{prompt['id']}/{decision}"), 404)


async def test_of_many_decisions_at_once_one_counts(fleet: Fleet) -> None:
    switch, device_id = await changed(fleet)
    old = await pin(fleet, device_id)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    answers = await asyncio.gather(
        *(fleet.api.post(f"{PROMPTS}/{prompt['id']}/{decision}") for decision in ("approve", "reject") * 5)
    )
    done = [position for position, answer in enumerate(answers) if answer.status == 200]
    assert len(done) == 1
    assert {answer.status for answer in answers} <= {200, 404, 409}
    assert await pin(fleet, device_id) == (switch.fingerprint if done[0] % 2 == 0 else old)


async def test_approving_gives_no_password_to_a_device_that_nobody_has_vouched_for(fleet: Fleet) -> None:
    """Who may only manage devices moves one to a server of his own, and waits for an approval."""
    loopback_is_any_network(fleet)
    device_id = await fleet.device(fleet.simulated("sw1"))
    assert await logs_in(fleet, device_id)
    stranger = fleet.simulated("stranger", host_key=None)
    await fleet.stack.enter_async_context(stranger)
    mover = fleet.with_permissions(*MOVER)
    (await mover.put(f"/api/devices/{device_id}", {"port": stranger.port})).expect()
    assert not (await mover.post(f"/api/devices/{device_id}/test-credential")).expect()["success"]
    (prompt,) = await prompts(fleet)
    assert (prompt["port"], prompt["fingerprint"]) == (stranger.port, stranger.fingerprint)
    refused = await fleet.api.post(f"{PROMPTS}/{prompt['id']}/approve")
    assert_error(refused, 409, "vouch")
    await fleet.posted(f"/api/devices/{device_id}/vouch")
    assert_error(await fleet.api.post(f"{PROMPTS}/{prompt['id']}/approve"), 409, "visit the device again")
    assert stranger.login_attempts == []
    assert not await logs_in(fleet, device_id)
    await decide(fleet, prompt, "approve")
    assert await logs_in(fleet, device_id)


async def test_a_device_that_is_moved_at_the_moment_of_the_approval_keeps_its_key(fleet: Fleet) -> None:
    _, device_id = await changed(fleet)
    old = await pin(fleet, device_id)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    store = fleet.parts.operations.host_keys._store
    known = await store.get(fleet.org_id, prompt["id"])
    assert known is not None
    path, now = f"/api/devices/{device_id}", fleet.installation.clock.now()
    for edits in ({"host": "localhost"}, {"port": 2222}):
        before = (await fleet.api.get(path)).expect()
        (await fleet.api.put(path, edits)).expect()
        assert not await store.approve(fleet.org_id, known, at=now)
        (await fleet.api.put(path, {name: before[name] for name in edits})).expect()
    (await fleet.with_permissions(*MOVER).put(path, {"automation_port": 830})).expect()
    assert not await store.approve(fleet.org_id, known, at=now)
    assert await pin(fleet, device_id) == old


async def test_a_key_that_came_through_a_jump_device_that_was_changed_is_not_pinned(fleet: Fleet) -> None:
    """A login by key goes to any address, so a forged key may have come from there."""
    loopback_is_any_network(fleet)
    jump = fleet.simulated("jump")
    inner = fleet.simulated("inner")
    jump_id = await fleet.device(jump)
    inner_id = await fleet.device(inner, jump_device_id=jump_id)
    assert await logs_in(fleet, inner_id)
    inner.change_host_key()
    assert (await fleet.api.post(f"/api/devices/{jump_id}/host-key/reset")).status == 204
    devices = scoped(fleet.database, "devices")
    await devices.update(fleet.org_id, {"_id": jump_id}, {"$set": {"vouched": False}})
    key = asyncssh.generate_private_key("ssh-ed25519")
    jump.authorized_key = key.export_public_key().decode()
    secret = key.export_private_key().decode()
    by_key = await fleet.credential("by key", credential_type="ssh_key", secret=secret)
    await devices.update(fleet.org_id, {"_id": jump_id}, {"$set": {"default_credential_id": by_key}})
    assert not await logs_in(fleet, inner_id)
    (prompt,) = await prompts(fleet)
    assert prompt["device_id"] == inner_id
    assert_error(await fleet.api.post(f"{PROMPTS}/{prompt['id']}/approve"), 409, "vouch")


async def test_who_may_do_what(fleet: Fleet) -> None:
    _, device_id = await changed(fleet)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    reader, elsewhere = fleet.with_permissions("devices.access"), fleet.elsewhere()
    assert (await reader.get(PROMPTS)).expect() == [prompt]
    assert (await elsewhere.get(PROMPTS)).expect() == []
    assert_error(await fleet.with_permissions("tasks.operate").get(PROMPTS), 403)
    for decision in ("approve", "reject"):
        path = f"{PROMPTS}/{prompt['id']}/{decision}"
        assert_error(await fleet.with_permissions(*MOVER).post(path), 403)
        assert_error(await elsewhere.post(path), 404, "Host key prompt not found")
        for other in (ABSENT_ID, "x"):
            assert_error(await fleet.api.post(f"{PROMPTS}/{other}/{decision}"), 404)
    assert await prompts(fleet) == [prompt]


async def test_an_edit_of_anything_else_leaves_the_question(fleet: Fleet) -> None:
    _, device_id = await changed(fleet)
    assert not await logs_in(fleet, device_id)
    (prompt,) = await prompts(fleet)
    path = f"/api/devices/{device_id}"
    device = (await fleet.api.get(path)).expect()
    assert "host_key_prompt" not in device
    (await fleet.api.put(path, {**device, "name": "renamed", "tags": ["x"]})).expect()
    assert await prompts(fleet) == [{**prompt, "device_name": "renamed"}]


async def test_the_list_costs_what_waits_in_it(fleet: Fleet, mongo_uri: str) -> None:
    _, device_id = await changed(fleet)
    assert not await logs_in(fleet, device_id)
    rows = [{"name": f"d{n}", "host": f"192.0.2.{n}", "device_type": "generic"} for n in range(200)]
    assert (await fleet.api.post("/api/devices/import/json", rows)).expect()["imported"] == 200
    store = fleet.parts.operations.host_keys._store
    with profiled(fleet.database, mongo_uri) as profile:
        assert len(await store.waiting(fleet.org_id)) == 1
        (query,) = profile.take("devices")
    assert (query["docsExamined"], query["keysExamined"]) == (1, 1)


@pytest.mark.skipif(PROGRAM is None, reason="no sshd here")
async def test_with_a_real_sshd(fleet: Fleet, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("before", "after")]
    for folder in folders:
        folder.mkdir()
    async with running_sshd(folders[0]) as before, running_sshd(folders[1]) as after:
        credential = await created(
            fleet.api,
            "/api/credentials",
            {
                "name": "both",
                "credential_type": "ssh_key",
                "username": before.username,
                "secret": before.private_key,
            },
        )
        named: dict[str, Any] = {"default_credential_id": credential["id"], "device_type": "linux"}
        device_id = await fleet.entry("host", before.port, **named)
        assert await logs_in(fleet, device_id)
        (folders[1] / "authorized_keys").write_bytes((folders[0] / "authorized_keys").read_bytes())
        (await fleet.api.put(f"/api/devices/{device_id}", {"port": after.port})).expect()
        assert not await logs_in(fleet, device_id)
        (prompt,) = await prompts(fleet)
        shown = (prompt["previous_fingerprint"], prompt["fingerprint"])
        assert shown == (before.fingerprint, after.fingerprint)
        await decide(fleet, prompt, "approve")
        assert await logs_in(fleet, device_id)
