"""Opens the credentials of transports that are no SSH sessions, and leaves a trace of each use."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.work.context import Work
from netautod.network.credentials.models import CredentialUnusable, Destination, NotVouched, UsableCredential
from netautod.network.devices.models import Device
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.failures import DeviceFailed


@dataclass(frozen=True, kw_only=True)
class UsedCredentials:
    """The credentials of one poll. `audited`: the ids of credentials whose use is recorded already;
    `details`: what the events say besides.
    """

    audit: AuditLog
    work: Work
    reach: DeviceReach
    audited: set[str]
    details: Mapping[str, Any] = field(default_factory=dict)

    async def found(self, finding: Awaitable[UsableCredential]) -> UsableCredential:
        """Return the credential. Raises DeviceFailed `credential`."""
        try:
            return await finding
        except (CredentialUnusable, VaultError) as exc:
            raise DeviceFailed(exc.text, kind="credential") from exc

    def destination(self, device: Device) -> Destination:
        """Return the destination. No key proves who answers there, as that of an SSH server does: the device
        has to be vouched for.

        DeviceFailed for one behind a jump device, which passes on SSH alone.
        """
        if device.jump_device_id is not None:
            text = f"{device.name} is behind a jump device, through which only SSH goes"
            raise DeviceFailed(text, kind="refused")
        return Destination(host=device.host, vouched=device.vouched, way_vouched=True)

    async def addresses(self, device: Device, found: UsableCredential, port: int) -> list[str]:
        """Return the addresses of the device's name, each one checked; DeviceFailed."""
        reach = self.reach.to(vouched=device.vouched, allowed_hosts=found.allowed_hosts, jumps=False)
        try:
            addresses = list(await reach(device.host, port))
        except (OSError, UnicodeError) as exc:
            text = f"{device.host}: the host name does not resolve ({exc})"
            raise DeviceFailed(text, kind="dns") from exc
        if not addresses:
            raise DeviceFailed(f"{device.host}: the host name has no address", kind="dns")
        return addresses

    async def use(self, found: UsableCredential) -> None:
        """Audit the use; await it before the secret is sent."""
        if found.id not in self.audited:
            record = self.audit.record
            await record(self.work.caller, "credential.use", "credential", found.id, self.details)
            self.audited.add(found.id)


def withheld(exc: CredentialUnusable, found: UsableCredential) -> DeviceFailed:
    """Return the failure of a secret that may not go where it is wanted."""
    if isinstance(exc, NotVouched):
        return DeviceFailed(exc.text, kind="not_vouched", credential_id=found.id)
    return DeviceFailed(exc.text, kind="credential", credential_id=found.id)
