"""The addresses that outgoing requests and sessions on devices may reach.

Requests reach all but this machine, link-local addresses and cloud metadata. Private networks are allowed,
because that is where inventory systems, identity providers and devices live. An IPv6 address that carries an
IPv4 address (mapped, NAT64, 6to4 ...) is treated as that one.
"""

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from typing import Self

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, kw_only=True)
class RefusedNetwork:
    """A network that is refused, with the reason. `local`: a device may stand there, if a user has vouched
    for it.
    """

    network: Network
    reason: str
    local: bool


def _networks(reason: str, *texts: str, local: bool = False) -> list[RefusedNetwork]:
    return [RefusedNetwork(network=ipaddress.ip_network(text), reason=reason, local=local) for text in texts]


# The services of clouds that hand out an instance's credentials, those at link-local addresses too.
METADATA = (
    "169.254.169.254/32",  # AWS, Azure, Google, Oracle and most others
    "169.254.170.2/32",  # AWS: the roles of ECS tasks
    "169.254.170.23/32",  # AWS: the roles of EKS pods
    "169.254.42.42/32",  # Scaleway
    "169.254.0.23/32",  # Tencent
    "100.100.100.200/32",  # Alibaba
    "168.63.129.16/32",  # Azure's wire server
    "192.0.0.192/32",  # Oracle, its first generation
    "fd00:ec2::254/128",  # AWS
    "fd00:ec2::23/128",  # AWS: EKS pods
    "fd20:ce::254/128",  # Google
    "fd00:42::42/128",  # Scaleway
    "fe80::a9fe:a9fe/128",  # OpenStack
)
REFUSED: tuple[RefusedNetwork, ...] = (
    # Linux takes 0.0.0.0/8 and :: for itself (RFC 1122 3.2.1.3).
    *_networks("an unspecified address", "0.0.0.0/8", "::/128"),
    *_networks("a loopback address", "127.0.0.0/8", "::1/128", local=True),
    *_networks("a cloud metadata address", *METADATA),
    *_networks("a link-local address", "169.254.0.0/16", "fe80::/10", local=True),
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
    """The rules for addresses. `allow` is the setting outbound.allow: networks that are reachable although
    they are refused here.
    """

    allow: tuple[Network, ...] = ()

    @classmethod
    def allowing(cls, texts: Iterable[str]) -> Self:
        """Return rules that allow these addresses or networks (text). Raises ValueError for a text that is
        neither.
        """
        return cls(allow=tuple(ipaddress.ip_network(text, strict=False) for text in texts))

    def refusal(self, text: str) -> str | None:
        """Return why Why"""
        return next((found.reason for found in self._refusing(_address(text))), None)

    def device_refusal(self, text: str, *, vouched: bool) -> str | None:
        """Return why Why"""
        for found in self._refusing(_address(text)):
            if not found.local:
                return found.reason
            if not vouched:
                return f"{found.reason}, where only a device that is vouched for may stand"
        return None

    def _refusing(self, address: Address) -> Iterator[RefusedNetwork]:
        """Yield, for each address that a packet may end up at, the first network that is refused."""
        if self._allowed(address):
            return
        for candidate in (address, *_carried(address)):
            if not self._allowed(candidate):
                yield from islice((found for found in REFUSED if candidate in found.network), 1)

    def _allowed(self, address: Address) -> bool:
        return any(address in network for network in self.allow)


def _address(text: str) -> Address:
    return ipaddress.ip_address(text.partition("%")[0])


def _carried(address: Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that a packet to this IPv6 address may end up at."""
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
