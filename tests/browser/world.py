"""A running service with something of everything, for people with the usual rights.

The organization `default` has two switches that were read twice, one that refuses the login, and so many
that were never read that lists have a second page. `empty` has nothing but its
administrator; `odd` is for the names that nobody should give.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netautod.assembly.settings import Settings
from netautod.cli.people.organizations import create_organization
from netautod.store.settings import MongoDBSettings
from netautod.testing import SimulatedDevice, ios_config
from tests.browser.plugin.scripted_runs import END
from tests.e2e.console import CONFIGS, Console
from tests.plugins.cli.outputs import IOS
from tests.support.execution import eventually
from tests.support.programs.service import Service, serving

PLUGIN = Path(__file__).parent / "plugin"
UNLIMITED = {"NETAUTOD_LIMITS_REQUESTS_PER_SECOND": "0", "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0"}
PASSWORD = "Wolkenkuckucksheim-9"
PEOPLE = {
    "olga": "operator",
    "vera": "viewer",
    "paul": "approver",
    "anna": "admin",
}
OPERATOR, VIEWER, APPROVER, ADMINISTRATOR = PEOPLE
EMPTY, ODD = "emma", "otto"  # the administrators of the other organizations
PATIENCE = 120.0  # seconds for what takes two on an idle machine
UNREAD = 60  # devices that nobody has read
DEVICE_PASSWORD, COMMUNITY, NEW_COMMUNITY = "c4nary-of-a-device", "c4nary-before", "c4nary-after"
ENABLE = "$1$mERr$c4nary0fTheEnableMode"
SECRETS = (
    DEVICE_PASSWORD,
    COMMUNITY,
    NEW_COMMUNITY,
    ENABLE,
    "c4nary-of-snmp",
    "c4nary-of-a-source",
    "c4nary-of-a-webhook",
    PASSWORD,
)
BROKEN = "lab-2"  # knows another password
SITES = {"core-1": "berlin", "access-1": "berlin", "lab-1": "lab", BROKEN: "lab"}


@dataclass(frozen=True, kw_only=True)
class World:
    """`ids` by what they are of: devices and tasks by name, executions by what came of them.

    `variables`: the environment of its nodes. `hidden`: what nobody may read who does not ask for secrets.
    """

    service: Service
    admin: Console
    folder: Path
    switches: Mapping[str, SimulatedDevice]
    variables: Mapping[str, str]
    ids: dict[str, str] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=lambda: list(SECRETS))

    @property
    def url(self) -> str:
        return self.service.url

    async def console(self, username: str) -> Console:
        return Console(client=await self.service.client(username, PASSWORD))

    def script(self, name: str, *lines: str) -> Path:
        """The file of a run of the type `writes`; it ends when END is added."""
        path = self.folder / name
        with path.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))
        return path

    def end_scripts(self) -> None:
        """Otherwise the service waits for its runs at its end."""
        for path in self.folder.glob("*.script"):
            self.script(path.name, END)


@asynccontextmanager
async def a_world(folder: Path, database: MongoDBSettings) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        switches = {name: await stack.enter_async_context(_switch(name)) for name in SITES}
        given = variables(folder, database)
        service = await stack.enter_async_context(serving(folder / "data", variables=given))
        admin = Console(client=await service.client("admin", PASSWORD))
        world = World(service=service, admin=admin, folder=folder, switches=switches, variables=given)
        await asyncio.gather(_organizations(folder / "data", database), _people(world.admin))
        await _inventory(world)
        await _runs(world)
        await _documents(world)
        await _administration(world)
        yield world
        world.end_scripts()


def variables(folder: Path, database: MongoDBSettings) -> dict[str, str]:
    """The environment of a service that finds the plugin, which nobody installed."""
    information = folder / "plugin" / "scripted_runs-1.0.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: scripted-runs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[netautod]\nscripted = scripted_runs\n")
    paths = [str(information.parent), str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **UNLIMITED,
        "PYTHONPATH": os.pathsep.join(paths),
        "NETAUTOD_ADMIN_PASSWORD": PASSWORD,
        "NETAUTOD_MONGODB_URI": database.uri,
        "NETAUTOD_MONGODB_DATABASE": database.database,
        "NETAUTOD_MONGODB_TIMEOUT_SECONDS": "60",  # a loaded machine is no hung database
        "NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1",
    }


def _switch(name: str) -> SimulatedDevice:
    return SimulatedDevice(
        hostname=name,
        password=DEVICE_PASSWORD,
        responses=IOS,
        config=ios_config(name, community=COMMUNITY, enable_hash=ENABLE),
    )


async def _organizations(data_dir: Path, database: MongoDBSettings) -> None:
    settings = Settings(data_dir=data_dir, mongodb=database, admin_password=PASSWORD)
    for name, admin in (("empty", EMPTY), ("odd", ODD)):
        await create_organization(settings, name, admin)


async def _people(console: Console) -> None:
    approver = ["devices.access", "tasks.operate", "config.deploy"]
    await console.add("/api/roles", name="approver", permissions=approver, description="Decides on changes")
    for username, role in PEOPLE.items():
        await console.add("/api/users", username=username, password=PASSWORD, roles=[role])


async def _inventory(world: World) -> None:
    console = world.admin
    for name in ("berlin", "hamburg", "lab"):
        await console.add("/api/sites", name=name, description=f"The rooms in {name.title()}")
    login = await console.credential("switch login", secret=DEVICE_PASSWORD)
    wrong = await console.credential("old login", secret="not the one any more")
    await console.credential("snmp", credential_type="snmp_community", port=161, secret="c4nary-of-snmp")
    for name, site in SITES.items():
        world.ids[name] = await console.device(
            name,
            world.switches[name].port,
            site=site,
            default_credential_id=wrong if name == BROKEN else login,
            poll_enabled=False,
        )
    unread = [
        {
            "name": f"edge-{number:03}",
            "host": f"192.0.2.{number}",
            "device_type": "cisco_ios",
            "site": "hamburg",
            "poll_enabled": False,
        }
        for number in range(1, UNREAD + 1)
    ]
    (await console.client.post("/api/devices/import/json", unread)).expect()


async def _runs(world: World) -> None:
    """Two versions of two devices; a run that failed in part; a request that waits; a poll."""
    console, ids = world.admin, world.ids
    ids["nightly"] = await console.backup("nightly", "berlin", cron_expression="30 2 * * *")
    ids["mixed"] = await console.backup("mixed", "lab")
    _, failed, ids["waiting"] = await asyncio.gather(
        _nightly(world), console.run(ids["mixed"], seconds=PATIENCE), asking(world, "change of a VLAN")
    )
    assert failed["state"] == "failed", failed
    ids["failed"] = failed["id"]


async def _nightly(world: World) -> None:
    """Two runs with a change between them, then a poll."""
    world.ids["completed"] = (await world.admin.run(world.ids["nightly"], seconds=PATIENCE))["id"]
    for name in ("core-1", "access-1"):
        changed = ios_config(name, community=NEW_COMMUNITY, enable_hash=ENABLE, interfaces=25)
        world.switches[name].config = changed
    await world.admin.run(world.ids["nightly"], seconds=PATIENCE)
    await poll(world, "core-1")


async def poll(world: World, name: str) -> None:
    """Up to its end."""
    path = f"/api/devices/{world.ids[name]}"
    asked = (await world.admin.client.post(f"{path}/poll")).expect(202)

    async def ended() -> bool:
        polls = (await world.admin.read(f"{path}/poll-history"))["polls"]
        return any(one["id"] == asked["poll_id"] and one["completed_at"] for one in polls)

    await eventually(ended, seconds=PATIENCE)


async def asking(world: World, name: str) -> str:
    """An execution that waits for an approval, of a task of its own."""
    device = {"id": world.ids["core-1"], "name": "core-1"}
    request = {"lines": ["interface GigabitEthernet1/0/7", " switchport access vlan 20"], "devices": [device]}
    task = await world.admin.task(name, "asks", parameters=request)
    execution = await world.admin.start(task)
    await world.admin.until(execution, "approval_pending", seconds=PATIENCE)
    return execution


async def _documents(world: World) -> None:
    console, ids = world.admin, world.ids
    note = {"name": "on-call.md", "category": "notes", "content_type": "markdown"}
    made = await console.add("/api/docs", **note, content="# On call\n\nCall *nobody* before nine.\n")
    changed = {"content": "# On call\n\nCall **Ann** before nine.\n"}
    (await console.client.put(f"/api/docs/{made['id']}", changed)).expect()
    template = {"name": "vlan.j2", "category": "templates", "content_type": "jinja"}
    await console.add("/api/docs", **template, content="vlan {{ number }}\n name {{ name }}\n")
    ids["document"] = made["id"]


async def _administration(world: World) -> None:
    console = world.admin
    added: dict[str, dict[str, Any]] = {
        "/api/webhooks": {
            "name": "chat",
            "url": "http://127.0.0.1:9/hook",
            "events": ["config_changed"],
            "secret": "c4nary-of-a-webhook",
            "enabled": False,
        },
        "/api/devices/sources/inventory": {
            "name": "netbox",
            "url": "http://127.0.0.1:9",
            "token": "c4nary-of-a-source",
        },
    }
    for path, fields in added.items():
        await console.add(path, **fields)
    token = await console.add("/api/auth/tokens", name="ci", permissions=["devices.access"])
    world.hidden.append(token["token"])
    notes = {"notes": "Before the new access list"}
    (await console.client.put(f"{CONFIGS}/{world.ids['core-1']}/configs/1/notes", notes)).expect()
