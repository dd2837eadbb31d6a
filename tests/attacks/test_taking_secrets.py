"""Attacks on the secrets of an organization, by its own users."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import asyncssh
import pytest

from netautod.testing import Faults
from tests.attacks.attackers import takeovers
from tests.attacks.attackers.insider import Office, office
from tests.attacks.attackers.listening import Listening
from tests.attacks.attackers.mover import ENABLE, PASSWORD, WAITS, World, evil, world
from tests.attacks.attackers.names import hostile_names
from tests.attacks.attackers.recording_ssh import RecordingSsh
from tests.network.configs.fleet import Fleet
from tests.support.client import ApiClient
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
async def made_office(world: World, tmp_path_factory: pytest.TempPathFactory) -> Office:
    return await office(world.service, tmp_path_factory.mktemp("office"))


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


# The same user looks for what listens on this machine and in its cloud; logins by key need nobody's word.

CONFIG_SECRETS = ("c0mmun1ty-of-all", "b0b-pa55word")


async def by_key(fleet: Fleet) -> None:
    """Makes a key the organization's default, which is sent wherever a device stands."""
    private = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    await fleet.credential("key", credential_type="ssh_key", secret=private, is_default=True)


async def told(fleet: Fleet, host: str, port: int, **fields: Any) -> str:
    """What a test of a device says that the user has made there, without its port."""
    mallory = fleet.with_permissions("devices.manage")
    device = {"name": f"at {port}", "host": host, "port": port, "device_type": "linux", **fields}
    made = (await mallory.post("/api/devices", device)).expect(201)
    answer = (await mallory.post(f"/api/devices/{made['id']}/test-credential")).expect()
    return str(answer["message"]).replace(f"port {port}", "port PORT")


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("127.0.0.1", id="its loopback address"),
        pytest.param("127.255.1.2", id="another loopback address"),
        pytest.param("localhost", id="its name"),
        pytest.param("here.mallory.example.", id="a name of the attacker's own with a dot"),
        pytest.param("::1", id="its loopback address of IPv6"),
        pytest.param("::ffff:127.0.0.1", id="its loopback address, mapped"),
        pytest.param("0.0.0.0", id="no address, which means this machine"),
        pytest.param("::", id="no address of IPv6"),
        pytest.param("here.mallory.example", id="a name of the attacker's own"),
        pytest.param("both.mallory.example", id="a name with an honest address beside it"),
    ],
)
async def test_nobody_scans_this_machine_by(fleet: Fleet, host: str) -> None:
    await by_key(fleet)
    names = {"here": ["127.0.0.1"], "both": ["127.0.0.1", "192.0.2.1"]}
    with hostile_names(names):
        async with Listening() as listening:
            opened = await told(fleet, host, listening.port)
        closed = await told(fleet, host, 1)
    assert listening.connections == 0
    assert opened == closed


async def test_nobody_turns_a_device_to_another_port_of_this_machine(fleet: Fleet) -> None:
    """The administrator has vouched for one port of it."""
    await by_key(fleet)
    mallory = fleet.with_permissions("devices.manage")
    async with Listening() as listening:
        device = await fleet.entry("proxy", 1)
        (await mallory.put(f"/api/devices/{device}", {"port": listening.port})).expect()
        (await mallory.post(f"/api/devices/{device}/test-credential")).expect()
    assert listening.connections == 0


async def test_a_name_that_looks_like_an_address_gets_no_credential_for_addresses(fleet: Fleet) -> None:
    """The administrator means 127.0.0.*, and vouches for a device whose name anybody may register."""
    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    bound = await fleet.credential(
        "bound", credential_type="ssh_key", secret=key, allowed_hosts=["127.0.0.*"]
    )
    with hostile_names({"127.0.0.1": ["127.9.9.9"]}):
        async with RecordingSsh(host="127.9.9.9") as server:
            device = await fleet.entry(
                "x", server.port, host="127.0.0.1.mallory.example", default_credential_id=bound
            )
            answer = await fleet.tested(device)
    assert (server.logins, "credential not allowed for this host" in answer["message"]) == (0, True)


async def test_nobody_scans_a_jump_device_from_behind(fleet: Fleet) -> None:
    """What the jump device would be asked for is asked of nobody."""
    jump = fleet.simulated("jump")
    password = await fleet.credential("of the jump device")
    jump_id = await fleet.device(jump, default_credential_id=password)
    await by_key(fleet)
    async with Listening() as listening:
        opened = await told(fleet, "127.0.0.1", listening.port, jump_device_id=jump_id)
    assert listening.connections == 0
    assert "loopback" in opened


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "meta.mallory.example"]
)
async def test_nobody_reaches_the_metadata_of_the_cloud_even_vouched_for(fleet: Fleet, host: str) -> None:
    await by_key(fleet)
    with hostile_names({"meta": ["169.254.169.254"]}):
        device = await fleet.entry("meta", 80, host=host)
        assert "cloud metadata address" in (await fleet.tested(device))["message"]


# What a user may not see, a command does not print for him, and what is said of it does not repeat.


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("show running-config", id="the whole configuration"),
        pytest.param("show running-config | include 0", id="some lines of it"),
        pytest.param("show tech", id="a report that holds it"),
    ],
)
async def test_a_command_prints_no_secret_for(fleet: Fleet, command: str) -> None:
    community, password = CONFIG_SECRETS
    config = f"hostname sw1\nsnmp-server community {community} RO\nusername bob password 0 {password}\nend"
    switch = fleet.simulated(config=config)
    switch.responses = {command: config + "\n"}
    device = await fleet.device(switch)
    mallory = fleet.with_permissions("devices.manage")
    answer = (await mallory.post(f"/api/devices/{device}/exec-command", {"command": command})).expect()
    assert "hostname sw1" in answer["output"]
    assert not any(secret in answer["output"] for secret in CONFIG_SECRETS)
    whole = (await fleet.ran(device, command))["output"]
    assert all(secret in whole for secret in CONFIG_SECRETS)


PHRASE = "t0p-of-the-tunnel"


async def by_command_of_another_type(mallory: ApiClient, device_id: str) -> str:
    body = {"command": "show running-config"}
    answer = (await mallory.post(f"/api/devices/{device_id}/exec-command", body)).expect()
    return str(answer["output"])


async def by_config_of_another_type(mallory: ApiClient, device_id: str) -> str:
    (await mallory.post(f"/api/config/devices/{device_id}/pull")).expect()
    answer = (await mallory.get(f"/api/config/devices/{device_id}/configs/latest")).expect()
    return str(answer["config_text"])


async def by_search_of_another_type(mallory: ApiClient, device_id: str) -> str:
    (await mallory.post(f"/api/config/devices/{device_id}/pull")).expect()
    return str((await mallory.get("/api/config/search?q=nhrp")).expect()["matches"])


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(by_command_of_another_type, id="a command"),
        pytest.param(by_config_of_another_type, id="a stored configuration"),
        pytest.param(by_search_of_another_type, id="a search"),
    ],
)
async def test_what_a_device_is_said_to_be_opens_no_secret_in(
    fleet: Fleet, read: Callable[[ApiClient, str], Awaitable[str]]
) -> None:
    switch = fleet.simulated(config=f"hostname sw1\ninterface Tunnel0\n ip nhrp authentication {PHRASE}\nend")
    device = await fleet.device(switch)
    mallory = fleet.with_permissions("devices.manage")
    (await mallory.put(f"/api/devices/{device}", {"device_type": "unheard_of"})).expect()
    shown = await read(mallory, device)
    assert "ip nhrp authentication" in shown
    assert PHRASE not in shown


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("curl -u admin:hunter2 https://192.0.2.1", id="curl -u"),
        pytest.param("curl -H 'X-Key-Of-Mine: hunter2' https://192.0.2.1", id="a header"),
        pytest.param("sshpass -p hunter2 ssh admin@192.0.2.1", id="sshpass"),
        pytest.param("mysql -uroot -phunter2 -e 'select 1'", id="mysql -p"),
        pytest.param("snmpwalk -v2c -c hunter2 192.0.2.1", id="a community"),
        pytest.param("ldapsearch -D cn=admin -w hunter2", id="a directory"),
        pytest.param("redis-cli -a hunter2 info", id="a database"),
        pytest.param("smbclient -U admin%hunter2 //192.0.2.1/s", id="a share"),
        pytest.param("echo hunter2 | sudo -S id", id="a pipe"),
        pytest.param("useradd -p hunter2 bob", id="a new user"),
        pytest.param("git clone https://hunter2@github.com/x/y", id="a token in an address"),
        pytest.param("create account admin bob hunter2", id="an account of a switch"),
    ],
)
async def test_no_event_holds_the_secret_of(fleet: Fleet, command: str) -> None:
    switch = fleet.simulated(responses={command: "done\n"})
    await fleet.ran(await fleet.device(switch), command)
    events = await fleet.rows("audit_events")
    assert command.split(" ")[0] in str(events)
    assert "hunter2" not in str(events)


async def test_a_refused_connect_command_is_not_quoted_with_its_secret(fleet: Fleet) -> None:
    device = await fleet.device(fleet.simulated(), connect_commands=["snmp-server community hunter2 ro"])
    viewer = fleet.with_permissions("devices.access")
    answer = (await viewer.post(f"/api/devices/{device}/test-credential")).expect()
    assert answer["success"] is False
    assert "hunter2" not in answer["message"]


async def test_a_source_verifies_certificates_until_somebody_knows_its_token(world: World) -> None:
    source = {"name": world.name(), "url": "https://127.0.0.1:1", "token": V1_TOKEN}
    source_id = await world.made(world.admin, "/api/devices/sources/inventory", **source)
    path = f"/api/devices/sources/inventory/{source_id}"
    answer = await world.mallory.put(path, {"verify_ssl": False})
    assert (answer.status, answer.json["error"][:6]) == (400, "token:")
    assert (await world.admin.get(path)).json["verify_ssl"] is True


# A viewer repeats tests of logins, which locks accounts.


async def test_a_viewer_locks_no_account_by_testing_it_again(fleet: Fleet) -> None:
    switch = fleet.simulated(faults=Faults(refuse_logins=True))
    path = f"/api/devices/{await fleet.device(switch)}/test-credential"
    viewer = fleet.with_permissions("devices.access")
    for _ in range(5):
        await viewer.post(path)
    await asyncio.gather(*(viewer.post(path) for _ in range(5)))
    assert len(switch.login_attempts) == 2


async def test_nobody_locks_an_account_by_editing_the_device_in_between(fleet: Fleet) -> None:
    switch = fleet.simulated(faults=Faults(refuse_logins=True))
    path = f"/api/devices/{await fleet.device(switch)}"
    mallory = fleet.with_permissions("devices.manage")
    for number in range(5):
        await mallory.put(path, {"description": str(number)})
        await mallory.post(f"{path}/exec-command", {"command": "show version"})
    assert len(switch.login_attempts) == 2


@pytest.mark.parametrize(
    "at_once", [pytest.param(False, id="in bulk"), pytest.param(True, id="at the same moment")]
)
async def test_a_viewer_locks_no_account_of_a_directory_by_tests_on_many_devices(
    fleet: Fleet, at_once: bool
) -> None:
    switches = [fleet.simulated(f"sw{number}", faults=Faults(refuse_logins=True)) for number in range(8)]
    ids = [await fleet.device(switch) for switch in switches]
    viewer = fleet.with_permissions("devices.access")
    if at_once:
        await asyncio.gather(*(viewer.post(f"/api/devices/{each}/test-credential") for each in ids))
    for _ in range(2):
        await viewer.post("/api/devices/bulk/test-credentials", {})
    assert sum(len(switch.login_attempts) for switch in switches) == 5
