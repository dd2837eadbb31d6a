"""The addresses of interfaces: IP-MIB (RFC 4293), and its older ipAddrTable for what that lacks."""

from netautod.plugin_api import InterfaceAddress
from netautod_snmp.agent import Agent, Rows
from netautod_snmp.values import address, number, numbers, octets

IF_INDEX = "1.3.6.1.2.1.4.34.1.3"  # ipAddressIfIndex
PREFIX = "1.3.6.1.2.1.4.34.1.5"  # ipAddressPrefix
OLD_IF_INDEX = "1.3.6.1.2.1.4.20.1.2"  # ipAdEntIfIndex
OLD_MASK = "1.3.6.1.2.1.4.20.1.3"  # ipAdEntNetMask
# InetAddressType (RFC 4001): ipv4, ipv6, and both with a zone.
LENGTHS = {1: 4, 2: 16, 3: 4, 4: 16}
Found = dict[int, tuple[InterfaceAddress, ...]]


async def read_addresses(agent: Agent) -> Found:
    """Return the addresses by ifIndex. Raises WalkFailed."""
    new = addresses_of(await agent.walk(IF_INDEX), await agent.walk(PREFIX))
    old = old_addresses_of(await agent.walk(OLD_IF_INDEX), await agent.walk(OLD_MASK))
    return merged(new, old)


def addresses_of(indexes: Rows, prefixes: Rows) -> Found:
    """Parse the rows: the index is the type, the length and the bytes of the address; the prefix points into
    a table whose index ends with its length.
    """
    found: Found = {}
    for index, value in indexes.items():
        own = inet_address(numbers(index))
        interface = number(value)
        length = _prefix_length(prefixes.get(index))
        if own is not None and interface is not None and length is not None:
            one = InterfaceAddress(address=own, prefix_length=length)
            found[interface] = (*found.get(interface, ()), one)
    return found


def old_addresses_of(indexes: Rows, masks: Rows) -> Found:
    found: Found = {}
    for index, value in indexes.items():
        own = inet_address([1, 4, *numbers(index)])
        interface, length = number(value), _mask_length(address(masks.get(index)))
        if own is not None and interface is not None and length is not None:
            one = InterfaceAddress(address=own, prefix_length=length)
            found[interface] = (*found.get(interface, ()), one)
    return found


def merged(new: Found, old: Found) -> Found:
    """Add what only the older table knows; of one address on one interface the newer table counts."""
    both = dict(new)
    for interface, addresses in old.items():
        known = {one.address for one in both.get(interface, ())}
        more = tuple(one for one in addresses if one.address not in known)
        both[interface] = (*both.get(interface, ()), *more)
    return both


def inet_address(parts: list[int]) -> str | None:
    """Parse an index of an InetAddressType and an InetAddress (RFC 4001)."""
    if len(parts) < 2 or LENGTHS.get(parts[0]) is None:
        return None
    length = LENGTHS[parts[0]]
    # Some agents leave out the length in front of the bytes.
    rest = parts[2:] if parts[1] in (length, length + 4) and len(parts) > length + 1 else parts[1:]
    bare = octets(rest[:length])
    # 0.0.0.0 stands for an interface without an address; some agents have a row for it.
    return address(bare) if bare is not None and len(bare) == length and any(bare) else None


def _prefix_length(value: object) -> int | None:
    """Return the last number of a pointer to ipAddressPrefixEntry; None for `0.0`, which points nowhere."""
    if not isinstance(value, str):
        return None
    parts = numbers(value)
    return parts[-1] if len(parts) > 10 and parts[-1] <= 128 else None


def _mask_length(mask: str | None) -> int | None:
    if mask is None or ":" in mask:
        return None
    bits = "".join(f"{int(part):08b}" for part in mask.split("."))
    return bits.count("1") if "01" not in bits else None
