"""Requests to the HTTPS interfaces of devices, with a password, to the addresses that were checked."""

import base64
import json
from dataclasses import dataclass
from typing import Any

from netautod.core.work.context import Work
from netautod.network.credentials.models import CredentialUnusable, UsableCredential
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import Device
from netautod.network.devices.sessions.login_paths import Leg
from netautod.network.devices.sessions.suspensions import Suspensions
from netautod.network.discovery.access.credentials import UsedCredentials, withheld
from netautod.plugin_api import HttpReply
from netautod.transport.outbound.client import GuardedClient, OutboundAnswer, OutboundRequest, TlsPolicy
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.target import Login

ANSWER_BYTES = 64 * 1024 * 1024
UNAUTHORIZED = 401
KINDS: dict[str, FailureKind] = {
    "dns": "dns",
    "connect": "refused",
    "certificate": "host_key",
    "timeout": "timeout",
}


@dataclass(frozen=True, kw_only=True)
class HttpsInterfaces:
    """The HTTPS interfaces of devices. `verify_tls`: whether their certificates are checked."""

    credentials: CredentialService
    suspensions: Suspensions
    http: GuardedClient
    verify_tls: bool

    async def post(
        self, device: Device, used: UsedCredentials, path: str, body: Any, *, port: int, seconds: float
    ) -> HttpReply:
        """Send JSON by POST; raises DeviceFailed, `auth` for a refused login, which suspends it as one by
        SSH.
        """
        finding = self.credentials.usable(
            used.work.org_id,
            override=device.automation_credential_id,
            device_default=device.default_credential_id,
        )
        found = await used.found(finding)
        password = _password(device, found, used)
        leg = _leg(device, found, password)
        addresses = await used.addresses(device, found, port)
        known = await self.suspensions.of(used.work, [leg])
        self.suspensions.refuse(known, [leg])
        await used.use(found)
        login = base64.b64encode(f"{found.username}:{password}".encode()).decode()
        request = OutboundRequest(
            url=f"https://{_in_url(device.host)}:{port}{path}",
            method="POST",
            headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
            body=json.dumps(body).encode(),
            timeout_seconds=seconds,
            max_bytes=ANSWER_BYTES,
            tls=TlsPolicy(verify=self.verify_tls),
        )
        answer = await self._fetch(used.work, addresses, request)
        if answer.status == UNAUTHORIZED:
            suspension = await self.suspensions.refused(used.work.org_id, leg)
            text = f"{device.name}: login of {found.username!r} refused on port {port}"
            failed = DeviceFailed(text, kind="auth", credential_id=found.id)
            failed.suspended_until = suspension.until
            raise failed
        await self.suspensions.lift(used.work.org_id, known)
        return HttpReply(status=answer.status, body=answer.body)

    async def _fetch(self, work: Work, addresses: list[str], request: OutboundRequest) -> OutboundAnswer:
        try:
            return await self.http.at(addresses).under(work.guard).fetch(request)
        except AddressRefused as exc:
            raise DeviceFailed(exc.text, kind="address") from exc
        except RequestFailed as exc:
            raise DeviceFailed(exc.text, kind=KINDS.get(exc.kind, "lost")) from exc


def _password(device: Device, found: UsableCredential, used: UsedCredentials) -> str:
    if found.type != "ssh_password":
        text = f"credential {found.name}: the HTTPS interface takes a user name and a password"
        raise DeviceFailed(text, kind="credential", credential_id=found.id)
    try:
        password = found.secrets_for(used.destination(device)).password
    except CredentialUnusable as exc:
        raise withheld(exc, found) from exc
    assert password is not None
    return password


def _leg(device: Device, found: UsableCredential, password: str) -> Leg:
    """Return the login as suspensions know it."""
    return Leg(
        device=device,
        login=Login(username=found.username, password=password),
        credential_id=found.id,
        credential_name=found.name,
        revision=found.revision,
        allowed_hosts=found.allowed_hosts,
        may_be_pinned=False,
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
