"""Tells the port at which an address is from those that lead there. Pure.

Every switch on the way to an address learns it, each on the port towards it. On all of those but the last one
another switch is heard; where that says nothing, the port with the fewest addresses is the nearest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.network.discovery.tables.models import Sighting
from netautod.network.discovery.topology.names import chassis_key, port_keys

# LldpSystemCapabilitiesMap (LLDP-MIB, IEEE 802.1AB-2005) as plugin_api/discovery/rows.py names them: at a
# phone or an access point a cable ends, though it may forward for others, too.
ENDS = frozenset({"telephone", "wlanAccessPoint", "stationOnly"})
FORWARDS = frozenset({"bridge", "router", "repeater", "switch"})


@dataclass(frozen=True, kw_only=True)
class Place:
    """A device, and the port of it, where an address was seen. `neighbor`: what is heard on that port.

    `is_uplink`: the address is behind that neighbor. `addresses`: how many MAC addresses stand on the port,
    None where they were not counted.
    """

    device_id: str
    device_name: str
    interface: str | None
    vlan_id: int | None
    mac_address: str | None
    ip_address: str | None
    source: str
    last_seen_at: datetime
    neighbor: str | None = None
    is_uplink: bool = False
    addresses: int | None = None


def neighbor_on(
    sighting: Sighting, neighbors: Iterable[Mapping[str, Any]], interfaces: Iterable[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """Return the neighbor on the port of the sighting, or on a member of its aggregate; a forwarding one
    before others.
    """
    if sighting.interface is None:
        return None
    ports = {*port_keys(sighting.interface)}
    for row in interfaces:
        if row.get("lag") and not ports.isdisjoint(port_keys(row["lag"])):
            ports.add(port_keys(row["name"])[0])
    candidates = [row for row in neighbors if not ports.isdisjoint(port_keys(row["local_interface"]))]
    return min(candidates, key=_ends, default=None)


def leads_on(neighbor: Mapping[str, Any] | None, mac: str | None) -> bool:
    """Return whether the address is behind that neighbor: not if it is the neighbor's own."""
    if neighbor is None or (mac is not None and chassis_key(neighbor["remote_chassis_id"]) == mac):
        return False
    return not _ends(neighbor)


def nearest_first(places: Iterable[Place]) -> list[Place]:
    """Sort ports at the edge by how few addresses they have, then those that lead there; equal ones newest
    first.
    """

    def order(place: Place) -> tuple[Any, ...]:
        count = place.addresses if place.addresses is not None else float("inf")
        newest = -place.last_seen_at.timestamp()
        return place.is_uplink, count, newest, place.device_name, place.interface or ""

    return sorted(places, key=order)


def name_of(neighbor: Mapping[str, Any]) -> str:
    names: Sequence[str | None] = (
        neighbor["remote_system_name"],
        neighbor["remote_mgmt_address"],
        neighbor["remote_chassis_id"],
    )
    return next((name for name in names if name), "a neighbor without a name")


def _ends(neighbor: Mapping[str, Any]) -> bool:
    """Return whether the neighbor says that a cable ends at it; one that says nothing may forward."""
    capabilities = frozenset(neighbor["remote_capabilities"])
    return bool(capabilities & ENDS) or bool(capabilities and not capabilities & FORWARDS)
