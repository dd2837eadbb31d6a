"""The address group that counts as one client on the network."""

import ipaddress

IPV6_HOST_BITS = 64
"""One IPv6 client is given a whole network of this length (RFC 6177)."""


def group_of(address: str) -> str:
    """Return an IPv4 address, or the /64 that one IPv6 client is given; `unknown` for anything else."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, IPV6_HOST_BITS), strict=False))
