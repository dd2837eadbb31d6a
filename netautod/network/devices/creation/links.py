"""The links of a device (credentials, site, jump device, transport): whether what they name exists and fits.

Records are checked before a write and again after it: a deletion of such a record hides it first and looks
for its users then, so one of the two always notices the other.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.models import SSH, TELNET
from netautod.network.devices.records.queries import CREDENTIAL_FIELDS, LINK_FIELDS
from netautod.network.devices.store import DeviceStore
from netautod.network.sites.service import SiteService

LOGIN = ("ssh_password", "ssh_key")
# A model-driven transport logs in by password, key or token.
FITTING = {
    "default_credential_id": LOGIN,
    "snmp_credential_id": ("snmp_community", "snmp_v3"),
    "automation_credential_id": (*LOGIN, "api_token", "generic_secret"),
}
MOST_JUMPS = 8
TELNET_REFUSED = "telnet encrypts nothing and is not allowed here (setting devices.allow_telnet)"
NO_JUMP = "nothing can be reached through a device that takes telnet only"


def names_credential(fields: Mapping[str, Any]) -> bool:
    return any(fields.get(field) is not None for field in CREDENTIAL_FIELDS)


def has_links(fields: Mapping[str, Any]) -> bool:
    return any(fields.get(field) is not None for field in LINK_FIELDS)


@dataclass(frozen=True, kw_only=True)
class LinkFacts:
    """The records that some devices point at, by id; what does not exist is missing here.

    `credentials`: types by id. `sites`: names by id. `jumps`: the ids of the devices on the way, the named
    one first, and one more than MOST_JUMPS at most. `plain`: those of them that are reached by telnet.
    `transports`: those of the collectors; None if they are not known here.
    """

    allow_telnet: bool
    transports: Set[str] | None
    plain: Set[str]
    credentials: Mapping[str, str]
    sites: Mapping[str, str]
    jumps: Mapping[str, Sequence[str]]

    def problem(self, device_id: str, fields: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the links of one device, as a sentence that names the field."""
        if fields.get("protocol") == TELNET and not self.allow_telnet:
            return f"protocol: {TELNET_REFUSED}"
        for field in CREDENTIAL_FIELDS:
            if fields.get(field) is not None and (found := self._credential_problem(field, fields[field])):
                return found
        if fields.get("jump_device_id") is not None:
            found = self._jump_problem(device_id, fields["jump_device_id"])
            if found:
                return found
        if fields.get("site_id") is not None and fields["site_id"] not in self.sites:
            return "site_id: there is no such site"
        return self._transport_problem(fields.get("automation_transport"))

    def site_name(self, fields: Mapping[str, Any]) -> str | None:
        """Return the name of the site that `site_id` means; None without one."""
        return None if fields.get("site_id") is None else self.sites.get(fields["site_id"])

    def _credential_problem(self, field: str, credential_id: str) -> str | None:
        found = self.credentials.get(credential_id)
        if found is None:
            return f"{field}: there is no such credential"
        if found not in FITTING[field]:
            return f"{field}: a credential of the type {found} cannot be used here"
        return None

    def _transport_problem(self, transport: str | None) -> str | None:
        if transport is None or self.transports is None or transport in self.transports:
            return None
        return f"automation_transport: Must be one of: {', '.join(sorted(self.transports))}"

    def _jump_problem(self, device_id: str, jump: str) -> str | None:
        way = self.jumps.get(jump, ())
        if device_id == jump or device_id in way:
            return "jump_device_id: a device cannot be reached through itself"
        if not way:
            return "jump_device_id: there is no such device"
        if not self.plain.isdisjoint(way):
            return f"jump_device_id: {NO_JUMP}"
        if len(way) > MOST_JUMPS:
            return f"jump_device_id: more than {MOST_JUMPS} jumps"
        return None


class Links:
    def __init__(
        self,
        *,
        store: DeviceStore,
        credentials: CredentialService,
        sites: SiteService,
        allow_telnet: bool,
        transports: Set[str] | None,
    ) -> None:
        self._store = store
        self._credentials = credentials
        self._sites = sites
        self._allow_telnet = allow_telnet
        self._transports = transports

    async def check(self, org_id: OrgId, device_id: str, fields: Mapping[str, Any]) -> str | None:
        """Return the name of the site that `site_id` means. Raises InvalidInput that names the field."""
        facts = await self.facts(org_id, [fields])
        problem = facts.problem(device_id, fields)
        if problem is None and fields.get("protocol", SSH) != SSH:
            users = await self._store.jumping(org_id, [device_id])
            problem = f"protocol: {NO_JUMP}, and {len(users)} are" if users else None
        if problem is not None:
            raise InvalidInput(problem)
        return facts.site_name(fields)

    async def facts(self, org_id: OrgId, devices: Iterable[Mapping[str, Any]]) -> LinkFacts:
        """Find all the ids that these fields name: a query for each kind, and one for each jump."""
        credentials: set[str] = set()
        sites: set[str] = set()
        jumps: set[str] = set()
        for fields in devices:
            credentials.update(fields[field] for field in CREDENTIAL_FIELDS if fields.get(field) is not None)
            sites.update([fields["site_id"]] if fields.get("site_id") is not None else ())
            jumps.update([fields["jump_device_id"]] if fields.get("jump_device_id") is not None else ())
        ways, plain = await self._ways(org_id, jumps)
        return LinkFacts(
            allow_telnet=self._allow_telnet,
            transports=self._transports,
            plain=plain,
            credentials=await self._credentials.types_of(org_id, credentials) if credentials else {},
            sites=await self._sites.names_of(org_id, sites) if sites else {},
            jumps=ways,
        )

    async def _ways(self, org_id: OrgId, starts: Iterable[str]) -> tuple[dict[str, list[str]], set[str]]:
        """Return all ways at once, one jump further by each query; and which of their devices take no SSH."""
        plain: set[str] = set()
        ways: dict[str, list[str]] = {start: [] for start in starts}
        ahead = {start: start for start in ways}
        for _ in range(MOST_JUMPS + 1):
            if not ahead:
                break
            hops = await self._store.jumps(org_id, set(ahead.values()))
            plain.update(here for here, hop in hops.items() if hop.protocol != SSH)
            for start, here in list(ahead.items()):
                if here in hops:
                    ways[start].append(here)
                following = hops[here].jump_device_id if here in hops else None
                if following is None:
                    del ahead[start]
                else:
                    ahead[start] = following
        return ways, plain
