"""Finds where a MAC or IP address is: of an IP address first whose it is, and then where that one is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from netautod.core.identity.caller import OrgId
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.places.ranking import Place, leads_on, name_of, nearest_first, neighbor_on
from netautod.network.discovery.tables.models import Sighting
from netautod.network.discovery.tables.reading import DiscoveredReads

MAC_TABLE, ARP_TABLE, INTERFACE = "mac", "arp", "interface"
MOST_MACS = 5  # of one IP address: more than one where it has moved, or is used twice
MOST_COUNTED = 20  # devices of which the addresses on a port are counted


@dataclass(frozen=True, kw_only=True)
class Whereabouts:
    """The locations of an address. `ports`: of MAC tables, the nearest first. `owners`: interfaces of devices
    that have the address.

    `pairs`: entries of ARP tables, the newest first.
    """

    ports: Sequence[Place] = ()
    owners: Sequence[Place] = ()
    pairs: Sequence[Place] = ()

    def __bool__(self) -> bool:
        return bool(self.ports or self.owners or self.pairs)


@dataclass(kw_only=True, eq=False)
class Places:
    reads: DiscoveredReads
    devices: DeviceService

    async def of(self, org_id: OrgId, *, mac: str | None = None, ip: str | None = None) -> Whereabouts:
        """Return where an address is, on devices that exist: exactly one of both, as `core/device_addresses`
        writes it.
        """
        found = await self.reads.find(org_id, mac=mac, ip=ip)
        if ip is not None:
            known = {one.mac_address: None for one in found if one.source == ARP_TABLE and one.mac_address}
            for each in list(known)[:MOST_MACS]:
                of_mac = await self.reads.find(org_id, mac=each)
                found += [one for one in of_mac if one.source == MAC_TABLE]
        names = await self.devices.live_names(org_id, sorted({one.device_id for one in found}))
        there = [one for one in found if one.device_id in names]
        placed = [_placed(one, names[one.device_id]) for one in there if one.source != MAC_TABLE]
        return Whereabouts(
            ports=await self._ports(org_id, [one for one in there if one.source == MAC_TABLE], names),
            owners=[place for place in placed if place.source == INTERFACE],
            pairs=[place for place in placed if place.source == ARP_TABLE],
        )

    async def _ports(
        self, org_id: OrgId, sightings: Sequence[Sighting], names: dict[str, str]
    ) -> Sequence[Place]:
        device_ids = sorted({one.device_id for one in sightings})
        neighbors = await self.reads.neighbors(org_id, device_ids)
        interfaces = await self.reads.interfaces(org_id, sorted(neighbors))
        places = []
        for one in sightings:
            of_device = neighbors.get(one.device_id, ()), interfaces.get(one.device_id, ())
            neighbor = neighbor_on(one, *of_device)
            place = _placed(one, names[one.device_id])
            if neighbor is not None:
                uplink = leads_on(neighbor, one.mac_address)
                place = replace(place, neighbor=name_of(neighbor), is_uplink=uplink)
            places.append(place)
        return nearest_first(await self._counted(org_id, places))

    async def _counted(self, org_id: OrgId, places: Sequence[Place]) -> list[Place]:
        """Return the places with the number of addresses on each port at the edge."""
        edge = [place for place in places if not place.is_uplink and place.interface is not None]
        wanted = list(dict.fromkeys(place.device_id for place in edge))[:MOST_COUNTED]
        names = {place.interface for place in edge if place.interface is not None}
        counts = await self.reads.addresses_on(org_id, wanted, sorted(names))
        return [
            place
            if place.is_uplink
            else replace(place, addresses=counts.get((place.device_id, place.interface or "")))
            for place in places
        ]


def _placed(one: Sighting, name: str) -> Place:
    return Place(
        device_id=one.device_id,
        device_name=name,
        interface=one.interface,
        vlan_id=one.vlan_id,
        mac_address=one.mac_address,
        ip_address=one.ip_address,
        source=one.source,
        last_seen_at=one.last_seen_at,
    )
