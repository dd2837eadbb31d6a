"""Name resolution for outgoing requests: one look-up, every address checked, nothing else connected to."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tornado.netutil import Resolver

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.errors import AddressRefused, RequestFailed

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""`await lookup(host, port)`: the host's addresses as text; OSError or UnicodeError if there are none."""
MAX_ADDRESSES = 16


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """Resolve a name with the operating system's resolver, in a thread."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class GuardedResolver(Resolver):
    """The resolver that Tornado connects through.

    It resolves once per connection, and the connection goes to the address that was checked, so that a name
    cannot change its address between check and use (DNS rebinding).
    """

    def initialize(self, *, rules: AddressRules, lookup: Lookup) -> None:
        self._rules = rules
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[tuple[int, Any]]:
        """Resolve a name. Raises AddressRefused if any address is refused, RequestFailed if there is none."""
        try:
            found = await self._lookup(host, port)
        except (OSError, UnicodeError) as error:
            raise RequestFailed(f"The name {host} cannot be resolved", kind="dns") from error
        addresses = list(dict.fromkeys(found))[:MAX_ADDRESSES]
        if not addresses:
            raise RequestFailed(f"The name {host} has no address", kind="dns")
        for address in addresses:
            reason = self._rules.refusal(address)
            if reason is not None:
                shown = host if host == address else f"{host} ({address})"
                raise AddressRefused(f"{shown} is {reason}; the setting outbound.allow can allow it")
        return [_socket_address(address, port) for address in addresses]


def _socket_address(address: str, port: int) -> tuple[int, Any]:
    if ":" in address:
        return socket.AF_INET6, (address, port, 0, 0)
    return socket.AF_INET, (address, port)
