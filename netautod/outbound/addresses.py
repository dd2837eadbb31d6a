"""Which addresses outgoing requests may reach: all but this machine, link-local ones and cloud metadata.

Private networks are allowed, because that is where inventory systems and identity providers live. An IPv6
address that carries an IPv4 address (mapped, NAT64, 6to4 ...) is treated as that one.
"""

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Self

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = IPv4Address | IPv6Address


def _networks(reason: str, *texts: str) -> list[tuple[Network, str]]:
    return [(ipaddress.ip_network(text), reason) for text in texts]


REFUSED: tuple[tuple[Network, str], ...] = (
    # Linux takes 0.0.0.0/8 and :: for itself (RFC 1122 3.2.1.3).
    *_networks("an unspecified address", "0.0.0.0/8", "::/128"),
    *_networks("a loopback address", "127.0.0.0/8", "::1/128"),
    # The metadata services of AWS, Google, Alibaba, Azure and Oracle that are not link-local.
    *_networks(
        "a cloud metadata address",
        "169.254.169.254/32",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
    ),
    *_networks("a link-local address", "169.254.0.0/16", "fe80::/10"),
    *_networks("a multicast address", "224.0.0.0/4", "ff00::/8"),
    *_networks("a reserved address", "240.0.0.0/4"),
)
# Prefixes whose last 32 bits are an IPv4 address: compatible (RFC 4291 2.5.5.1), mapped (2.5.5.2),
# translated (RFC 2765) and NAT64's well-known one (RFC 6052).
LAST_32_BITS = tuple(
    ipaddress.IPv6Network(text) for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # RFC 8215
ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 6.1: the upper half of the interface identifier


@dataclass(frozen=True, kw_only=True)
class AddressRules:
    """`allow` is the setting outbound.allow: networks that are reachable although they are refused here."""

    allow: tuple[Network, ...] = ()

    @classmethod
    def allowing(cls, texts: Iterable[str]) -> Self:
        """Of addresses or networks as text; ValueError for one that is neither."""
        return cls(allow=tuple(ipaddress.ip_network(text, strict=False) for text in texts))

    def refusal(self, text: str) -> str | None:
        """Why the address (as text, of either family) is refused; None if it is not."""
        address = ipaddress.ip_address(text.partition("%")[0])
        if self._allowed(address):
            return None
        for candidate in (address, *_carried(address)):
            if self._allowed(candidate):
                continue
            for network, reason in REFUSED:
                if candidate in network:
                    return reason
        return None

    def _allowed(self, address: Address) -> bool:
        return any(address in network for network in self.allow)


def _carried(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that a packet to this IPv6 address may end up at."""
    if isinstance(address, IPv4Address):
        return
    number = int(address)
    # Not :: and ::1, which have rules of their own.
    if any(address in network for network in LAST_32_BITS) and number > 1:
        yield IPv4Address(number & 0xFFFFFFFF)
    if address in LOCAL_NAT64:
        # RFC 6052 2.2: the last 32 bits if a /96 of it is used, else around the bits 64 to 71.
        around = (number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF
        yield from (IPv4Address(found) for found in (number & 0xFFFFFFFF, around) if found)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if number >> 32 & 0xFFFFFFFF in ISATAP:
        yield IPv4Address(number & 0xFFFFFFFF)
