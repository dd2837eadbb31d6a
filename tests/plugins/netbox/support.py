"""Opens a source on a server of the test through the real guarded client, and walks it to its end."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from netautod.plugin_api import IncompleteWalk, InventoryAccess, InventorySource, RemoteDevice, RemoteProblem
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod_netbox import NetBoxSource
from netautod_netbox.limits import Limits, RequestLimits
from tests.support.servers.netbox import V1_TOKEN, NetBoxReplay


@dataclass(kw_only=True)
class Walk:
    """A walk: all devices that it brought; `incomplete` is its text if it says that devices may be
    missing.
    """

    devices: list[RemoteDevice] = field(default_factory=list)
    problems: list[RemoteProblem] = field(default_factory=list)
    pages: int = 0
    incomplete: str | None = None

    @property
    def ids(self) -> list[str]:
        devices = [device.external_id for device in self.devices]
        return sorted(devices + [problem.external_id for problem in self.problems])


async def walk(source: InventorySource) -> Walk:
    found = Walk()
    try:
        async for page in source.devices():
            found.pages += 1
            found.devices += page.devices
            found.problems += page.problems
    except IncompleteWalk as error:
        found.incomplete = error.text
    return found


def access(url: str, token: str, **changes: Any) -> InventoryAccess:
    """Return access to a server on 127.0.0.1, and to no other local address."""
    http = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
    return InventoryAccess(url=url, token=token, http=http, platforms=PlatformRegistry().slugs, **changes)


class Waits:
    """A replacement of sleeping: it records the seconds. `meanwhile` is called each time."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.seconds: list[float] = []
        self._meanwhile = meanwhile

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self._meanwhile()


def quick(sleep: Callable[[float], Awaitable[None]], *, seconds: float = 20.0) -> Limits:
    """Return limits without real sleeping; `seconds` are those of a request."""
    request = RequestLimits(seconds=seconds, most_bytes=2 * 1024 * 1024, longest_wait=60.0)
    return Limits(status=request, count=request, page=request, sleep=sleep)


@pytest.fixture
async def netbox() -> AsyncIterator[NetBoxReplay]:
    """Yield the recorded NetBox; a module that uses it imports it."""
    made = NetBoxReplay()
    yield made
    made.close()


def source_of(server: NetBoxReplay, **changes: Any) -> NetBoxSource:
    """Build a source; `url` and `token` as well as the fields of InventoryAccess may be changed."""
    return NetBoxSource(access(changes.pop("url", server.url), changes.pop("token", V1_TOKEN), **changes))


def netbox_at(url: str, waits: Waits | None = None, **changes: Any) -> NetBoxSource:
    """Build a source without real waits; `seconds` may be changed."""
    return NetBoxSource(access(url, V1_TOKEN), limits=quick(waits or Waits(), **changes))
