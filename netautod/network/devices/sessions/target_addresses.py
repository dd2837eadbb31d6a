"""The allowed targets of a connection: the name of a device is resolved once, each answer checked, no other
one used.

A user who may add devices could otherwise have this machine try the ports of itself, or of the metadata
service of its cloud. Behind a jump device a name may be known to that device alone: for a device that is
vouched for it is passed on, except where `allowed_hosts` is about addresses. Any other name is resolved here,
and the jump device gets the address that was checked.
"""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from netautod.network.credentials import hosts
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.resolver import MAX_ADDRESSES, Lookup, system_lookup
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.target import Reach

NOT_ALLOWED = "credential not allowed for this host"
# What clouds call their metadata services; which address a jump device finds for a name is not seen here.
METADATA_NAMES = (
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
)


@dataclass(frozen=True, kw_only=True)
class DeviceReach:
    """The rules of one node. `lookup` is for tests."""

    rules: AddressRules
    lookup: Lookup = system_lookup

    def to(self, *, vouched: bool, allowed_hosts: Sequence[str], jumps: bool) -> Reach:
        """Return the resolver for a device that is vouched for or not, and the credential that is sent to it.

        `jumps`: a jump device makes the connection. The DeviceFailed are `address` and `credential`, and say
        nothing about what answers there.
        """

        async def reach(host: str, port: int) -> Sequence[str]:
            by_address = hosts.needs_addresses(allowed_hosts, host)
            if jumps and vouched and not by_address and _literal(host) is None:
                _refuse_fixed_name(host)
                found: Sequence[str] = [host]
            else:
                found = await self._checked(host, port, vouched=vouched)
            if not hosts.allows(allowed_hosts, host, found):
                raise DeviceFailed(NOT_ALLOWED, kind="credential")
            return found

        return reach

    async def _checked(self, host: str, port: int, *, vouched: bool) -> Sequence[str]:
        literal = _literal(host)
        answers = [literal] if literal is not None else await self.lookup(host, port)
        addresses = list(dict.fromkeys(answers))[:MAX_ADDRESSES]
        for address in addresses:
            reason = self.rules.device_refusal(address, vouched=vouched)
            if reason is not None:
                shown = host if host == address else f"{host} ({address})"
                raise DeviceFailed(f"{shown} is {reason}", kind="address")
        return addresses


def _literal(host: str) -> str | None:
    """Return the address that the text is, also in the old spellings of IPv4 (`127.1`, `0x7f000001`)."""
    try:
        return str(ipaddress.ip_address(host.rstrip(".").partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host.rstrip(".")))
    except (OSError, UnicodeError, ValueError):
        return None


def _refuse_fixed_name(host: str) -> None:
    name = host.rstrip(".").lower()
    if name in METADATA_NAMES:
        raise DeviceFailed(f"{host} is the name of a cloud metadata service", kind="address")
