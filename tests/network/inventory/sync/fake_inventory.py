"""An inventory system that a test fills, and the plugin that reads it, without a network in between."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from netautod.plugin_api import (
    IncompleteWalk,
    InventoryAccess,
    InventoryFailed,
    InventoryPage,
    InventoryProbe,
    InventorySource,
    OpenInventory,
    RemoteDevice,
    RemoteProblem,
    hookimpl,
)

TOKEN = "nbt_a-secret-token-17"
VERSION = "4.2.1"
URL = "http://192.0.2.80"


def machine(number: int, name: str, **more: Any) -> RemoteDevice:
    fields: dict[str, Any] = {
        "external_id": str(number),
        "inventory_id": number,
        "name": name,
        "host": f"192.0.2.{number}",
        "device_type": "cisco_ios",
        **more,
    }
    return RemoteDevice(**fields)


@dataclass(kw_only=True)
class FakeInventory:
    """What it has, and what goes wrong with it. `accesses`: how it was opened.

    `elsewhere`: what inventories at other addresses have.
    """

    devices: list[RemoteDevice] = field(default_factory=list)
    elsewhere: dict[str, list[RemoteDevice]] = field(default_factory=dict)
    problems: list[RemoteProblem] = field(default_factory=list)
    incomplete: str | None = None
    failure: BaseException | None = None
    fails_after: int | None = None
    page: int = 2
    known: bool = True
    held: asyncio.Event | None = None
    walking: asyncio.Event = field(default_factory=asyncio.Event)
    accesses: list[InventoryAccess] = field(default_factory=list)

    def has(self, *devices: RemoteDevice) -> None:
        self.devices = list(devices)

    def change(self, number: int, **fields: Any) -> None:
        self.devices = [
            replace(device, **fields) if device.external_id == str(number) else device
            for device in self.devices
        ]

    def drop(self, *numbers: int) -> None:
        gone = {str(number) for number in numbers}
        self.devices = [device for device in self.devices if device.external_id not in gone]

    @hookimpl
    def netautod_register_inventory_sources(self, register: Callable[[str, OpenInventory], None]) -> None:
        register("fake", self.open)

    def open(self, access: InventoryAccess) -> InventorySource:
        self.accesses.append(access)
        return FakeSource(self, access)


class FakeSource:
    def __init__(self, remote: FakeInventory, access: InventoryAccess) -> None:
        self._remote = remote
        self._access = access

    async def probe(self) -> InventoryProbe | None:
        end = self._remote
        if not end.known:
            return None
        if end.failure is not None and end.fails_after is None:
            raise end.failure
        if self._access.token != TOKEN:
            raise InventoryFailed(f"the token {self._access.token} is refused")
        return InventoryProbe(system="NetBox", version=VERSION, device_count=len(end.devices))

    async def devices(self) -> AsyncIterator[InventoryPage]:
        end = self._remote
        end.walking.set()
        if end.held is not None:
            await end.held.wait()
        devices = end.elsewhere.get(self._access.url, end.devices)
        for start in range(0, len(devices), end.page):
            if end.failure is not None and end.fails_after is not None and start >= end.fails_after:
                raise end.failure
            yield InventoryPage(devices=tuple(devices[start : start + end.page]))
        yield InventoryPage(problems=tuple(end.problems))
        if end.incomplete is not None:
            raise IncompleteWalk(end.incomplete)
