"""The records that a device points at (credentials, site, jump device): do they exist, do they fit.

They are checked before a write and again after it: whoever deletes such a record hides it first and looks
for its users then, so one of the two always notices the other.
"""

from collections.abc import Mapping
from typing import Any

from netautod.credentials.service import CredentialService
from netautod.devices.queries import CREDENTIAL_FIELDS
from netautod.devices.store import DeviceStore
from netautod.errors import InvalidInput
from netautod.sites.service import SiteService
from netautod.store.client import OrgId

LOGIN = ("ssh_password", "ssh_key")
# A model-driven transport logs in by password, key or token.
FITTING = {
    "default_credential_id": LOGIN,
    "snmp_credential_id": ("snmp_community", "snmp_v3"),
    "automation_credential_id": (*LOGIN, "api_token", "generic_secret"),
}
MOST_JUMPS = 8


class Links:
    def __init__(self, *, store: DeviceStore, credentials: CredentialService, sites: SiteService) -> None:
        self._store = store
        self._credentials = credentials
        self._sites = sites

    async def check(self, org_id: OrgId, device_id: str, fields: Mapping[str, Any]) -> str | None:
        """Raises InvalidInput that names the field; answers the name of the site that `site_id` means."""
        for field in CREDENTIAL_FIELDS:
            if fields.get(field) is not None:
                await self._check_credential(org_id, field, fields[field])
        if fields.get("jump_device_id") is not None:
            await self._check_jumps(org_id, device_id, fields["jump_device_id"])
        if fields.get("site_id") is None:
            return None
        name = await self._sites.name_of(org_id, fields["site_id"])
        if name is None:
            raise InvalidInput("site_id: there is no such site")
        return name

    async def _check_credential(self, org_id: OrgId, field: str, credential_id: str) -> None:
        found = await self._credentials.type_of(org_id, credential_id)
        if found is None:
            raise InvalidInput(f"{field}: there is no such credential")
        if found not in FITTING[field]:
            raise InvalidInput(f"{field}: a credential of the type {found} cannot be used here")

    async def _check_jumps(self, org_id: OrgId, device_id: str, jump: str) -> None:
        following: str | None = jump
        for _ in range(MOST_JUMPS + 1):
            if following == device_id:
                raise InvalidInput("jump_device_id: a device cannot be reached through itself")
            hop = None if following is None else await self._store.get(org_id, following)
            if hop is None:
                if following == jump:
                    raise InvalidInput("jump_device_id: there is no such device")
                return
            following = hop.jump_device_id
        raise InvalidInput(f"jump_device_id: more than {MOST_JUMPS} jumps")
