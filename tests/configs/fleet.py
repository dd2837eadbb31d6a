"""Devices that can be visited: the inventory's services, sessions, configs, and simulated devices."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncssh
from bson import BSON
from pymongo import AsyncMongoClient
from tornado.iostream import IOStream
from tornado.tcpclient import TCPClient

from netautod.app.parts.auth import ssh_ca_of
from netautod.app.parts.configs import ConfigParts, configs_of
from netautod.app.parts.devices import DeviceParts, devices_of
from netautod.app.parts.leases import named_leases
from netautod.app.parts.operations import DeviceOperations, operations_of
from netautod.app.run_services import acting_factory
from netautod.app.stores import Stores
from netautod.audit.service import AuditLog
from netautod.auth.settings import SshCaSettings
from netautod.auth.ssh_ca.service import SshAuthority
from netautod.configs.models import Captured
from netautod.configs.settings import ConfigSettings
from netautod.core.clock import SystemClock
from netautod.core.guard import Guard, no_guard
from netautod.core.identity import Caller, OrgId
from netautod.core.work import Work
from netautod.devices.sessions.service import DeviceSessions, SessionScope
from netautod.devices.settings import DeviceSettings
from netautod.executions.models import Execution
from netautod.executions.running.environment import RunActing
from netautod.executions.settings import ExecutionSettings
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api.events import BackupStale, ConfigChanged, CredentialSuspended
from netautod.ssh.platform.registry import PlatformRegistry
from netautod.ssh.target import SessionLimits
from netautod.store.client import Database
from netautod.store.scoped import scoped
from netautod.testing import SimulatedDevice
from netautod.vault.vault import Vault
from tests.devices.inventory import created
from tests.support.client import ApiClient, ServedRoutes
from tests.support.databases import stores_of
from tests.support.execution import manual_run, task
from tests.support.serving import Serve

QUICK_LEASES = ExecutionSettings(lease_seconds=3.0, heartbeat_seconds=1.0, abandon_seconds=2.0)
QUICK = DeviceSettings(connect_seconds=5.0, command_seconds=5.0)
RESERVED = SshCaSettings(reserved_principals=("reserved",))
PASSWORD = "simulated-pa55word"


class Told:
    """Observers that keep what they are told."""

    def __init__(self) -> None:
        self.changes: list[ConfigChanged] = []
        self.stale: list[BackupStale] = []
        self.suspended: list[CredentialSuspended] = []

    def config_changed(self, event: ConfigChanged) -> None:
        self.changes.append(event)

    def backup_stale(self, event: BackupStale) -> None:
        self.stale.append(event)

    def credential_suspended(self, event: CredentialSuspended) -> None:
        self.suspended.append(event)


@dataclass(kw_only=True)
class Fleet:
    """One organization with a default credential; `add` puts a simulated device into its inventory."""

    database: Database
    stores: Stores
    vault: Vault
    services: DeviceParts
    stack: AsyncExitStack
    ssh_ca: SshAuthority
    operations: DeviceOperations
    configs: ConfigParts
    told: Told
    served: ServedRoutes
    api: ApiClient
    caller: Caller
    credential_id: str = ""
    host_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))

    @property
    def sessions(self) -> DeviceSessions:
        return self.operations.sessions

    @property
    def org_id(self) -> OrgId:
        return self.caller.org_id

    def with_permissions(self, *permissions: str) -> ApiClient:
        """Another user of the same organization."""
        return self.served.client(*permissions, org_id=self.org_id)[0]

    @property
    def password(self) -> str:
        """What the default credential logs in with."""
        return PASSWORD

    @property
    def quick_limits(self) -> SessionLimits:
        """Short enough that a test of a silent device takes a second."""
        return replace(self.sessions.limits, login_seconds=2.0, prompt_seconds=1.5, quiet_seconds=0.1)

    @asynccontextmanager
    async def another_node(self, **settings: Any) -> AsyncIterator[DeviceSessions]:
        """The sessions of a second node of the service."""
        making = operations_of_a_node(
            self.database, self.stores, self.services, self.ssh_ca, self.told, **settings
        )
        async with making as operations:
            yield operations.sessions

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
        make = acting_factory(
            devices=self.services.devices,
            captures=self.configs.captures,
            snapshots=self.configs.snapshots,
            sessions=self.sessions,
            commands=self.operations.commands,
            http=GuardedClient(AddressRules()),
        )
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
async def operations_of_a_node(
    database: Database,
    stores: Stores,
    devices: DeviceParts,
    ssh_ca: SshAuthority,
    told: Told,
    **settings: Any,
) -> AsyncIterator[DeviceOperations]:
    """What one node of the service does on devices; `busy_seconds` and fields of the settings."""
    busy_seconds = settings.pop("busy_seconds", 20.0)
    clock = SystemClock()
    leasing = named_leases(database=database, node_id=str(uuid4()), clock=clock, settings=QUICK_LEASES)
    async with leasing as leases:
        operations = operations_of(
            stores=stores,
            clock=clock,
            audit=AuditLog(store=stores.audit, clock=clock),
            devices=devices,
            platforms=PlatformRegistry(),
            leases=leases,
            authority=ssh_ca,
            settings=replace(QUICK, **settings),
            observers=told,
        )
        operations.sessions.busy_seconds = busy_seconds
        yield operations


@asynccontextmanager
async def open_fleet(
    database: Database, serve: Serve, data_dir: Path, **settings: Any
) -> AsyncIterator[Fleet]:
    vault = await Vault.open(database, data_dir=data_dir, environ={})
    stores, clock, told = stores_of(database), SystemClock(), Told()
    audit = AuditLog(store=stores.audit, clock=clock)
    services = devices_of(stores=stores, vault=vault, clock=clock, audit=audit)
    ssh_ca = ssh_ca_of(stores=stores, vault=vault, clock=clock, audit=audit, settings=RESERVED)
    async with AsyncExitStack() as stack:
        operations = await stack.enter_async_context(
            operations_of_a_node(database, stores, services, ssh_ca, told, **settings)
        )
        configs = await stack.enter_async_context(
            configs_of(
                database=database,
                stores=stores,
                vault=vault,
                clock=clock,
                audit=audit,
                devices=services.devices,
                sessions=operations.sessions,
                settings=ConfigSettings(search_cache_bytes=1 << 20),
                observers=told,
            )
        )
        served = await serve(*configs.services, *services.services, *operations.services)
        api, caller = served.client("*")
        fleet = Fleet(
            database=database,
            stores=stores,
            vault=vault,
            services=services,
            stack=stack,
            ssh_ca=ssh_ca,
            operations=operations,
            configs=configs,
            told=told,
            served=served,
            api=api,
            caller=caller,
        )
        fleet.credential_id = await fleet.credential("default", is_default=True)
        yield fleet
