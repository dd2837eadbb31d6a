"""Lists of addresses and networks in the settings: what they cover, and which hosts are this machine.
Pure."""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import TypeVar

N = TypeVar("N", ipaddress.IPv4Network, ipaddress.IPv6Network)
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
IPV4 = ipaddress.IPv4Network("0.0.0.0/0")
MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")  # RFC 4291 2.5.5.2
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # RFC 4291 2.4: all that is handed out


def cover_everything(texts: Iterable[str]) -> bool:
    """Return whether the networks cover half of the IPv4 addresses, or of the IPv6 addresses that are handed
    out.

    No list of one's own machines does that. A list that leaves out a corner of the internet is no safer than
    one that leaves out nothing.
    """
    four: list[ipaddress.IPv4Network] = []
    six: list[ipaddress.IPv6Network] = []
    for text in texts:
        network = ipaddress.ip_network(text, strict=False)
        if isinstance(network, ipaddress.IPv4Network):
            four.append(network)
        elif network.subnet_of(MAPPED):
            four.append(_unmapped(network))
        else:
            four += [IPV4] if MAPPED.subnet_of(network) else []
            six += [network] if network.subnet_of(GLOBAL_UNICAST) else []
            six += [GLOBAL_UNICAST] if GLOBAL_UNICAST.subnet_of(network) else []
    return _half(four, IPV4.num_addresses) or _half(six, GLOBAL_UNICAST.num_addresses)


def overlapping(texts: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Return the `texts` that cover an address of `wanted`."""
    sought = [ipaddress.ip_network(text) for text in wanted]
    return [text for text in texts if any(_overlap(text, network) for network in sought)]


def is_this_machine(host: str) -> bool:
    """Return whether the host is a loopback address or the name of one."""
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def _half(networks: Sequence[N], everything: int) -> bool:
    merged = ipaddress.collapse_addresses(networks)
    return 2 * sum(network.num_addresses for network in merged) >= everything


def _unmapped(network: ipaddress.IPv6Network) -> ipaddress.IPv4Network:
    address = ipaddress.IPv4Address(int(network.network_address) & 0xFFFFFFFF)
    return ipaddress.IPv4Network((address, network.prefixlen - 96))


def _overlap(text: str, wanted: Network) -> bool:
    network = ipaddress.ip_network(text, strict=False)
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(MAPPED):
        return _overlap(str(_unmapped(network)), wanted)
    return network.version == wanted.version and network.overlaps(wanted)
