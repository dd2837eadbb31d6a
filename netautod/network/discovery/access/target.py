"""One device as collectors see it: each way to it goes through the checks of addresses and approvals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import Device
from netautod.network.devices.sessions.service import DeviceSessions, SessionScope
from netautod.network.discovery.access.agents import Agents
from netautod.network.discovery.access.credentials import UsedCredentials
from netautod.network.discovery.access.https import HttpsInterfaces
from netautod.plugin_api import Channel, CliReader, HttpReply, SnmpAccess
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.session import CliSession, refusal_of

PATIENCE = 5.0  # seconds that a poll waits for another session on the device: a backup goes first


@dataclass(frozen=True, kw_only=True)
class Access:
    """The access to devices, one object per node; `target` for each poll."""

    credentials: CredentialService
    sessions: DeviceSessions
    audit: AuditLog
    http: GuardedClient
    verify_tls: bool

    async def has_agent(self, org_id: OrgId) -> bool:
        """Return whether a device without an SNMP credential of its own is polled over SNMP all the same."""
        return await self.credentials.has_default_agent(org_id)

    def target(self, work: Work, device: Device, *, audited: set[str], **details: Any) -> "DeviceTarget":
        """Return a device as collectors see it. `audited`: the ids of credentials whose use need not be
        recorded again; `details` go into events.
        """
        audit_details = {**details, **work.audit_details}
        return DeviceTarget(
            device=device,
            device_type=self.sessions.platforms.get(device.device_type).name,
            used=UsedCredentials(
                audit=self.audit, work=work, reach=self.sessions.reach, audited=audited, details=audit_details
            ),
            scope=self.sessions.scope(
                work, background=True, patience=PATIENCE, audited=audited, gives_way=True, **details
            ),
            agents=Agents(credentials=self.credentials),
            https=HttpsInterfaces(
                credentials=self.credentials,
                suspensions=self.sessions.suspensions,
                http=self.http,
                verify_tls=self.verify_tls,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class DeviceTarget:
    """A `PollTarget`. `device_type` is the name of the platform, whatever synonym the device has."""

    device: Device
    device_type: str
    used: UsedCredentials
    scope: SessionScope
    agents: Agents
    https: HttpsInterfaces

    @property
    def org_id(self) -> str:
        return self.device.org_id

    @property
    def device_id(self) -> str:
        return self.device.id

    @property
    def name(self) -> str:
        return self.device.name

    async def snmp(self) -> SnmpAccess:
        return await self.agents.access(self.device, self.used)

    @asynccontextmanager
    async def login(self) -> AsyncIterator[CliReader]:
        async with self.scope.open(self.device.id) as opened:
            yield Reader(opened.session)

    @asynccontextmanager
    async def connect(self, subsystem: str, *, port: int) -> AsyncIterator[Channel]:
        opening = self.scope.subsystem(
            self.device.id,
            subsystem,
            port=self.device.automation_port or port,
            credential_id=self.device.automation_credential_id,
        )
        async with opening as opened:
            yield opened.session

    async def post(self, path: str, body: Any, *, port: int, seconds: float) -> HttpReply:
        at = self.device.automation_port or port
        return await self.https.post(self.device, self.used, path, body, port=at, seconds=seconds)


@dataclass(frozen=True)
class Reader:
    """A `CliReader`."""

    session: CliSession

    async def run(self, command: str, *, timeout: float | None = None, max_bytes: int | None = None) -> str:
        result = await self.session.execute(command, timeout=timeout, max_bytes=max_bytes)
        refusal = refusal_of(result, self.session.platform)
        if refusal is not None:
            raise refusal
        return result.output
