"""The SNMP agents of devices: where they are, and how they are asked."""

from dataclasses import dataclass

from netautod.network.credentials.models import CredentialUnusable
from netautod.network.credentials.rules import SNMP_PORT
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import Device
from netautod.network.discovery.access.credentials import UsedCredentials, withheld
from netautod.plugin_api import SnmpAccess, SnmpUser

# Names of credentials to those of the contract of collectors.
PRIV_PROTOCOLS = {"AES128": "aes"}


@dataclass(frozen=True, kw_only=True)
class Agents:
    credentials: CredentialService

    async def access(self, device: Device, used: UsedCredentials) -> SnmpAccess:
        """Return the access to the SNMP agent of a device. Raises DeviceFailed, before anything is sent."""
        org_id = used.work.org_id
        finding = self.credentials.usable_agent(org_id, device_default=device.snmp_credential_id)
        found = await used.found(finding)
        try:
            secrets = found.agent_for(used.destination(device))
        except CredentialUnusable as exc:
            raise withheld(exc, found) from exc
        port = found.port or SNMP_PORT
        address = (await used.addresses(device, found, port))[0]
        await used.use(found)
        if secrets.community is not None:
            return SnmpAccess(address=address, port=port, community=secrets.community)
        user = SnmpUser(
            name=found.username,
            auth_protocol=_name(found.auth_protocol),
            auth_key=secrets.auth_key,
            priv_protocol=_name(found.priv_protocol),
            priv_key=secrets.priv_key,
        )
        return SnmpAccess(address=address, port=port, user=user)


def _name(protocol: str | None) -> str | None:
    return None if protocol is None else PRIV_PROTOCOLS.get(protocol, protocol.lower())
