"""Devices that can be visited: the inventory's services, sessions, configs, and simulated devices."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import asyncssh
from bson import BSON
from pymongo import AsyncMongoClient
from tornado.iostream import IOStream
from tornado.tcpclient import TCPClient

from netautod.assembly.acting.caller_services import SharedServices
from netautod.assembly.acting.run_services import acting_factory
from netautod.assembly.automation import build_background_pulls
from netautod.assembly.base import open_command_base
from netautod.assembly.network.configs import Configs
from netautod.assembly.network.device_services import DeviceServices, open_devices
from netautod.assembly.settings import Settings
from netautod.automation.agents.desk import Desk
from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import RunActing
from netautod.automation.executions.settings import ExecutionSettings
from netautod.automation.tasks.parameters import SchemaRules
from netautod.core.clock import SystemClock
from netautod.core.work.context import Work
from netautod.core.work.guard import Guard, no_guard
from netautod.identity.auth.settings import SshCaSettings
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.network.configs.models import Captured
from netautod.network.configs.settings import ConfigSettings
from netautod.network.devices.sessions.service import DeviceSessions, SessionScope
from netautod.network.devices.settings import DeviceSettings
from netautod.plugin_api import Acting
from netautod.plugin_api.events import BackupStale, ConfigChanged, CredentialSuspended
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.observers import Observers
from netautod.store.client import Database
from netautod.store.scoped import scoped
from netautod.testing import SimulatedDevice
from netautod.testing.runs.agent_desk import KeptTranscripts, desk_of
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.target import SessionLimits
from netautod_backup import BackupParameters
from tests.network.devices.inventory import created
from tests.support.client import Tenant
from tests.support.execution import FinishedRuns as Finished
from tests.support.execution import manual_run, task, task_services
from tests.support.installation import Installation, open_installation
from tests.support.serving import Serve

QUICK_LEASES = ExecutionSettings(lease_seconds=3.0, heartbeat_seconds=1.0, abandon_seconds=2.0)
QUICK = DeviceSettings(connect_seconds=5.0, command_seconds=5.0)
SETTINGS = Settings(
    ssh_ca=SshCaSettings(reserved_principals=("reserved",)),
    configs=ConfigSettings(search_cache_bytes=1 << 20),
)
PASSWORD = "simulated-pa55word"


class Told:
    """Observers that keep what they are told."""

    def __init__(self) -> None:
        self.changes: list[ConfigChanged] = []
        self.stale: list[BackupStale] = []
        self.suspended: list[CredentialSuspended] = []

    def wanted(self, hook: str) -> bool:
        return True

    def config_changed(self, event: ConfigChanged) -> None:
        self.changes.append(event)

    def backup_stale(self, event: BackupStale) -> None:
        self.stale.append(event)

    def credential_suspended(self, event: CredentialSuspended) -> None:
        self.suspended.append(event)


@dataclass(frozen=True, kw_only=True)
class Fleet(Tenant):
    """One organization with a default credential; `device` puts a simulated one into its inventory."""

    installation: Installation
    database: Database
    parts: DeviceServices
    stack: AsyncExitStack
    ssh_ca: SshAuthority
    told: Told
    credential_id: str = ""
    host_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))

    @property
    def configs(self) -> Configs:
        return self.parts.configs

    @property
    def sessions(self) -> DeviceSessions:
        return self.parts.operations.sessions

    @property
    def quick_limits(self) -> SessionLimits:
        """Short enough that a test of a silent device takes a second."""
        return replace(self.sessions.limits, login_seconds=2.0, prompt_seconds=1.5, quiet_seconds=0.1)

    @asynccontextmanager
    async def another_node(self, **settings: Any) -> AsyncIterator[DeviceSessions]:
        """The sessions of a second node of the service."""
        installation = self.installation.on_another_node()
        async with device_work(installation, self.ssh_ca, self.told, **settings) as parts:
            yield parts.operations.sessions

    def work(self, **options: Any) -> Work:
        """A request of the administrator, unless the options say otherwise."""
        return Work(caller=self.caller, **options)

    def scope(
        self, *, seconds: float | None = None, background: bool | None = None, **work: Any
    ) -> SessionScope:
        return self.sessions.scope(self.work(**work), seconds=seconds, background=background)

    async def take(self, device_id: str, *, via: str = "api", **work: Any) -> Captured:
        """A capture without the API."""
        _, captured = await self.configs.captures.take(self.scope(**work), device_id, via=via)
        return captured

    def run(self) -> Execution:
        return manual_run(task(org_id=self.org_id))

    def acting(
        self, run: Execution | None = None, *, permission: str = "devices.access", guard: Guard = no_guard
    ) -> RunActing:
        """What the executor of the run (of a new one) is lent, for an owner with this permission."""
        run = run or self.run()
        owner = replace(
            self.caller, user_id=str(uuid4()), username="owner", permissions=frozenset({permission})
        )
        shared = SharedServices(
            devices=self.parts.devices.devices,
            backups=self.configs.backups,
            captures=self.configs.captures,
            sessions=self.sessions,
            commands=self.parts.operations.commands,
            audit=self.installation.audit,
            http=GuardedClient(AddressRules()),
        )
        make = acting_factory(shared=shared, snapshots=self.configs.snapshots, desk=_idle_desk)
        return make(Work(caller=owner, guard=guard, bulk=True, execution_id=run.id), run)

    async def credential(self, name: str, **fields: Any) -> str:
        body = {"name": name, "credential_type": "ssh_password", "username": "admin", "secret": PASSWORD}
        return str((await created(self.api, "/api/credentials", {**body, **fields}))["id"])

    async def device(self, simulated: SimulatedDevice, **fields: Any) -> str:
        """Starts the simulated device and adds it; answers the id."""
        await self.stack.enter_async_context(simulated)
        return await self.entry(simulated.hostname, simulated.port, device_type=simulated.platform, **fields)

    async def entry(self, name: str, port: int, **fields: Any) -> str:
        """A device of the inventory, whether something listens there or not."""
        body = {"name": name, "host": "127.0.0.1", "port": port, "device_type": "cisco_ios", **fields}
        return str((await created(self.api, "/api/devices", body))["id"])

    def simulated(self, hostname: str = "sw1", **options: Any) -> SimulatedDevice:
        """One that the default credential opens; they share a host key, which saves its generation."""
        return SimulatedDevice(
            hostname=hostname, **{"password": PASSWORD, "host_key": self.host_key, **options}
        )

    async def posted(self, path: str, **body: Any) -> Any:
        """What a request that succeeds answers."""
        return (await self.api.post(path, body or None)).expect()

    async def pulled(self, device_id: str) -> Any:
        return await self.posted(f"/api/config/devices/{device_id}/pull")

    async def ran(self, device_id: str, command: str, **options: Any) -> Any:
        return await self.posted(f"/api/devices/{device_id}/exec-command", command=command, **options)

    async def tested(self, device_id: str, **body: Any) -> Any:
        return await self.posted(f"/api/devices/{device_id}/test-credential", **body)

    async def unread(self, path: str, **body: Any) -> IOStream:
        """A client that has sent its request and reads nothing."""
        content, (host, port) = json.dumps(body), self.served.base_url.removeprefix("http://").split(":")
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {self.api.token}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        stream = await TCPClient().connect(host, int(port))
        await stream.write((head + content).encode())
        return stream

    async def stored(self, name: str, *configs: str, **fields: Any) -> str:
        """A device with one version per configuration."""
        switch = self.simulated(name)
        device_id = await self.device(switch, **fields)
        for switch.config in configs:
            await self.pulled(device_id)
        return device_id

    async def rows(self, collection: str, **where: Any) -> list[Any]:
        """The documents, versions in order."""
        return await self.database.collection(collection).find(where, sort=[("version", 1), ("_id", 1)])

    async def audited(self, action: str) -> list[Any]:
        found = scoped(self.database, "audit_events")
        return await found.find(self.org_id, {"action": action}, sort=[("at", 1)])

    async def raw_dump(self, mongo_uri: str) -> bytes:
        """Everything that the database holds, in the form in which it is stored."""
        async with AsyncMongoClient[dict[str, Any]](mongo_uri) as client:
            database = client[self.database.name]
            names = await database.list_collection_names()
            return b"".join([BSON.encode(row) for name in names async for row in database[name].find()])


@asynccontextmanager
async def device_work(
    installation: Installation,
    ssh_ca: SshAuthority,
    told: Told,
    *,
    busy_seconds: float = 20.0,
    **devices: Any,
) -> AsyncIterator[DeviceServices]:
    """What one node of the service does with devices; `devices` are fields of the settings."""
    settings = replace(installation.settings, devices=replace(QUICK, **devices), executions=QUICK_LEASES)
    plugins = PluginManager(LoadedPlugins.of({}))
    async with (
        open_command_base(replace(installation, settings=settings), plugins) as base,
        open_devices(replace(base, observers=cast(Observers, told)), ssh_ca) as parts,
    ):
        parts.operations.sessions.busy_seconds = busy_seconds
        yield parts


@asynccontextmanager
async def open_fleet(
    database: Database, serve: Serve, data_dir: Path, **devices: Any
) -> AsyncIterator[Fleet]:
    installation, told = await open_installation(database, data_dir, settings=SETTINGS), Told()
    ssh_ca = installation.ssh_ca()
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(device_work(installation, ssh_ca, told, **devices))
        services = (parts.configs, parts.devices, parts.operations)
        served = await serve(
            *(service for part in services for service in part.services),
            *background_runs(database),
        )
        fleet = Fleet(
            installation=installation,
            database=database,
            parts=parts,
            stack=stack,
            ssh_ca=ssh_ca,
            told=told,
            **served.administrator(),
        )
        yield replace(fleet, credential_id=await fleet.credential("default", is_default=True))


def background_runs(database: Database) -> tuple[object, ...]:
    """Executions, which no node runs, and bulk pulls that become some."""
    rules = SchemaRules(schemas={"backup": BackupParameters}, references={})
    parts = task_services(database, clock=SystemClock(), rules=rules, observers=Finished())
    _, executions, _, chosen = parts
    return *parts, build_background_pulls(chosen, executions)


def _idle_desk(work: Work, execution: Execution, acting: Callable[[Work], Acting]) -> Desk:
    """One that no agent works at."""
    http = GuardedClient(AddressRules())
    transcripts = KeptTranscripts()
    return desk_of(work, execution, model=None, tools=(), transcripts=transcripts, acting=acting, http=http)
