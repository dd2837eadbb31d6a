"""Which device a neighbor is: by chassis id, then by name, then by management address. Pure.

What several devices have in common (a virtual MAC address, a host name) says nothing about either of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.core.device_addresses import ip_address
from netautod.discovery.topology.names import chassis_key, full_name, host_name


@dataclass(frozen=True, kw_only=True)
class KnownDevice:
    """A device of the inventory, with what its last poll said of it."""

    id: str
    name: str
    host: str
    platform: str | None
    device_type: str
    sys_name: str | None = None
    chassis_ids: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Ids:
    """Device ids by what they are known by; several at one key are nobody."""

    found: dict[str, set[str]] = field(default_factory=dict)

    def add(self, key: str | None, device_id: str) -> None:
        if key is not None:
            self.found.setdefault(key, set()).add(device_id)

    def one(self, key: str | None) -> str | None:
        ids = self.found.get(key or "", ())
        return next(iter(ids)) if len(ids) == 1 else None


class Directory:
    """The devices of an organization, to be added one by one."""

    def __init__(self) -> None:
        self._chassis, self._addresses = _Ids(), _Ids()
        self._names, self._full, self._hosts = _Ids(), _Ids(), _Ids()

    def add(self, device: KnownDevice) -> None:
        for chassis in device.chassis_ids:
            self._chassis.add(chassis_key(chassis), device.id)
        # What the inventory calls it counts before what it calls itself: two may have kept a default name.
        self._names.add(full_name(device.name), device.id)
        for name in (device.name, device.sys_name):
            self._full.add(full_name(name), device.id)
            self._hosts.add(host_name(name), device.id)
        self._addresses.add(ip_address(device.host) or full_name(device.host), device.id)

    def add_interfaces(self, device_id: str, macs: Iterable[str], addresses: Iterable[str]) -> None:
        """What its interfaces have."""
        for mac in macs:
            self._chassis.add(mac, device_id)
        for address in addresses:
            self._addresses.add(address, device_id)

    def match(self, neighbor: Mapping[str, Any]) -> str | None:
        """The id of the device that the neighbor is."""
        name = neighbor["remote_system_name"]
        return (
            self._chassis.one(chassis_key(neighbor["remote_chassis_id"]))
            or self._by_name(name)
            or self._addresses.one(neighbor["remote_mgmt_address"])
        )

    def knows_chassis(self, neighbor: Mapping[str, Any]) -> bool:
        return self._chassis.one(chassis_key(neighbor["remote_chassis_id"])) is not None

    def _by_name(self, name: str | None) -> str | None:
        whole = full_name(name)
        return self._names.one(whole) or self._full.one(whole) or self._hosts.one(host_name(name))
