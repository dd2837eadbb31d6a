"""Many new devices at once, for imports: the rules of a single creation with few queries for all of them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.loop.pace import Pace
from netautod.network.devices.creation.links import LinkFacts, Links, has_links, names_credential
from netautod.network.devices.creation.single import new_device
from netautod.network.devices.models import Device
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS, may_vouch
from netautod.network.devices.service import NAME_TAKEN
from netautod.network.devices.store import DeviceStore

Fields = Mapping[str, Any]


class DeviceBatches:
    """The creation of devices in batches of some hundred. `fields` of each are as DeviceRequest loads them;
    the caller audits.

    Each answer has one place for each device, in order: what is wrong with it as a sentence, or None.
    """

    def __init__(self, *, store: DeviceStore, links: Links, clock: Clock) -> None:
        self._store = store
        self._links = links
        self._clock = clock

    async def problems(self, caller: Caller, devices: Sequence[Fields]) -> list[str | None]:
        """Return why each device cannot be created, its name aside: its links, and the caller's rights.
        None: it can.
        """
        facts = await self._links.facts(caller.org_id, devices)
        may_name = caller.can(MANAGE_CREDENTIALS)
        return [_problem(facts, fields, may_name=may_name) for fields in devices]

    async def taken(self, org_id: OrgId, names: Sequence[str]) -> list[str | None]:
        """Return which of the names live devices have at this moment."""
        found = await self._store.taken(org_id, names)
        return [NAME_TAKEN if name in found else None for name in names]

    async def insert(self, caller: Caller, devices: Sequence[Fields], *, source: str) -> list[str | None]:
        """Insert those that `problems` found nothing wrong with, as far as their names are free.

        One write for all: if we die here those that are in the inventory stay, and are duplicates next time.
        """
        org_id, vouched = caller.org_id, may_vouch(caller)
        facts = await self._links.facts(org_id, devices)
        now, pace = self._clock.now(), Pace()
        made: list[Device] = []
        for fields in devices:
            site = facts.site_name(fields)
            device_id = str(uuid4())
            made.append(
                new_device(org_id, device_id, fields, site=site, source=source, vouched=vouched, at=now)
            )
            await pace.breathe()
        duplicates = set(await self._store.insert_many(org_id, made))
        found = [NAME_TAKEN if position in duplicates else None for position in range(len(made))]
        linked = [place for place, fields in enumerate(devices) if has_links(fields) and found[place] is None]
        if linked:
            await self._confirm_links(org_id, made, devices, linked, found)
        return found

    async def _confirm_links(
        self,
        org_id: OrgId,
        made: Sequence[Device],
        devices: Sequence[Fields],
        linked: Sequence[int],
        found: list[str | None],
    ) -> None:
        """Check the links after the write: remove devices whose links do not hold any more; follow renames of
        sites.
        """
        facts = await self._links.facts(org_id, [devices[place] for place in linked])
        renamed: dict[str, str] = {}
        for place in linked:
            device, fields = made[place], devices[place]
            found[place] = facts.problem(device.id, fields)
            name = facts.site_name(fields)
            if found[place] is not None:
                await self._store.discard(org_id, device.id)
            elif name is not None and name != device.site:
                renamed[fields["site_id"]] = name
        for site_id, name in renamed.items():
            await self._store.rename_site(org_id, site_id, name, at=self._clock.now())


def _problem(facts: LinkFacts, fields: Fields, *, may_name: bool) -> str | None:
    if not may_name and names_credential(fields):
        return f"naming a credential needs the permission {MANAGE_CREDENTIALS}"
    return facts.problem("", fields)  # it has no id yet, so that no way can lead through it
