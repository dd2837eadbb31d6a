"""ARP and neighbor discovery: IP-MIB's ipNetToPhysicalTable (RFC 4293), and the older ipNetToMediaTable."""

from collections.abc import Iterable
from dataclasses import replace

from netautod.plugin_api import ArpEntry
from netautod_snmp.addresses import inet_address
from netautod_snmp.agent import Agent, Rows
from netautod_snmp.ports import Ports
from netautod_snmp.values import ZERO_MAC, mac, number, numbers

PHYSICAL = "1.3.6.1.2.1.4.35.1.4"  # ipNetToPhysicalPhysAddress; index: ifIndex, address type, address
PHYSICAL_TYPE = "1.3.6.1.2.1.4.35.1.6"
MEDIA = "1.3.6.1.2.1.4.22.1.2"  # ipNetToMediaPhysAddress; index: ifIndex, IPv4 address
MEDIA_TYPE = "1.3.6.1.2.1.4.22.1.4"
# ipNetToPhysicalType and ipNetToMediaType agree but for `local`.
TYPES = {1: "other", 3: "dynamic", 4: "static", 5: "local"}
INVALID = 2
Found = dict[tuple[int, str], ArpEntry]


async def read_arp(agent: Agent, ports: Ports) -> list[ArpEntry]:
    """Read the ARP tables. Raises WalkFailed."""
    new = entries_of(await agent.walk(PHYSICAL), await agent.walk(PHYSICAL_TYPE), ports, old=False)
    old = entries_of(await agent.walk(MEDIA), await agent.walk(MEDIA_TYPE), ports, old=True)
    return list(merged(new, old))


def entries_of(addresses: Rows, types: Rows, ports: Ports, *, old: bool) -> Found:
    found: Found = {}
    for index, value in addresses.items():
        parts = numbers(index)
        kind = number(types.get(index))
        if len(parts) < 5 or kind == INVALID:
            continue
        own = inet_address([1, 4, *parts[1:]] if old else parts[1:])
        if own is None:
            continue
        hardware = mac(value)
        found[parts[0], own] = ArpEntry(
            ip_address=own,
            mac_address=None if hardware == ZERO_MAC else hardware,
            interface=ports.names.get(parts[0]),
            type=TYPES.get(kind or 0),
        )
    return found


def merged(new: Found, old: Found) -> Iterable[ArpEntry]:
    """Merge both tables: of one address on one interface the newer table counts; the older one fills its
    gaps.
    """
    for key, entry in new.items():
        other = old.get(key)
        if other is not None and entry.mac_address is None:
            entry = replace(entry, mac_address=other.mac_address)
        yield entry
    yield from (entry for key, entry in old.items() if key not in new)
