"""The contract of inventory sources, and what they are given.

A source only reads: it says which devices the system has. The service decides the rest: which local device
each of them is, what is created, updated and removed, and what history is kept.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from netautod.transport.outbound.client import GuardedClient


class InventoryFailed(Exception):
    """The inventory system cannot be reached, refuses the token, or answers nonsense: 502 with this text.

    The text is for the user and holds no token. Whatever pages came before are not applied.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class IncompleteWalk(InventoryFailed):
    """Raised at the end of `devices` when devices may be missing: those seen are applied, none is removed."""


@dataclass(frozen=True, kw_only=True)
class InventoryAccess:
    """The access to one inventory system, and which of its devices are wanted for the organization `org_id`.

    `url` is the address that the user named, without a trailing slash. `filters` has the keys that were set:
    `sites`, `roles`, `manufacturers`, `platforms`, `statuses`, `tags`, `tenants` (lists of slugs) and `name`
    (a text). `platforms` maps every slug and driver name that a platform of this service is known by to its
    device type, those of plugins too; `device_types`, the user's own map, comes before it.
    """

    org_id: str = ""
    url: str
    token: str = field(repr=False)
    verify_ssl: bool = True
    filters: Mapping[str, Any] = field(default_factory=dict)
    platforms: Mapping[str, str] = field(default_factory=dict)
    device_types: Mapping[str, str] = field(default_factory=dict)
    http: GuardedClient


@dataclass(frozen=True, kw_only=True)
class InventoryProbe:
    """The answer of a probe: `system` such as `NetBox`, its version, and how many devices the
    filters match.
    """

    system: str
    version: str
    device_count: int


@dataclass(frozen=True, kw_only=True)
class RemoteDevice:
    """A device of the inventory system, in the terms of this service.

    `external_id` is the id there as text (the match of later syncs); `inventory_id` the same as a number,
    None where ids are no numbers. While one of a walk has an id that is no text of 1 to 255 characters,
    nothing is removed, since it is unknown which device it is. `host` is an address without prefix length, or
    a host name.
    """

    external_id: str
    inventory_id: int | None
    name: str
    host: str
    device_type: str
    description: str | None = None
    manufacturer: str | None = None
    model: str | None = None
    platform: str | None = None
    site: str | None = None
    serial_number: str | None = None
    asset_tag: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RemoteProblem:
    """A device of the inventory system that cannot be imported, such as one without a name or a primary
    address."""

    external_id: str
    inventory_id: int | None
    name: str | None
    error: str


@dataclass(frozen=True, kw_only=True)
class InventoryPage:
    """A page of devices of a walk; no device is on two pages."""

    devices: tuple[RemoteDevice, ...] = ()
    problems: tuple[RemoteProblem, ...] = ()


class InventorySource(Protocol):
    """An inventory system, opened for one probe or walk. Made without effects; every request goes through
    `http`.
    """

    async def probe(self) -> InventoryProbe | None:
        """Return what answers there; None if it is no system of this kind, so that another plugin may know
        it.

        Raises InventoryFailed, and AddressRefused or RequestFailed of the guarded client.
        """
        ...

    def devices(self) -> AsyncIterator[InventoryPage]:
        """Yield all devices that the filters match, once each; `probe` has answered before.

        Ends by itself after a complete walk. Raises as `probe` does, and IncompleteWalk.
        """
        ...


class OpenInventory(Protocol):
    """A function that a plugin registers: it makes a source for one inventory system."""

    def __call__(self, access: InventoryAccess) -> InventorySource: ...
