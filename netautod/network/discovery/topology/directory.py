"""The match of neighbors with devices: by chassis id, then by name, then by management address. Pure.

A device that hears its own chassis id hears itself, unless that comes with another's name: the two halves of
a pair send one id. A neighbor with a device's name but another chassis id is another device: devices keep
default names. What several devices have in common (a virtual MAC address, a host name) says nothing about
either of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netautod.network.discovery.topology.names import address_key, chassis_key, full_name, host_name


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
    """A map of device ids by their keys; a key of several devices matches none."""

    found: dict[str, set[str]] = field(default_factory=dict)

    def add(self, key: str | None, device_id: str) -> None:
        if key is not None:
            self.found.setdefault(key, set()).add(device_id)

    def one(self, key: str | None) -> str | None:
        ids = self.found.get(key or "", ())
        return next(iter(ids)) if len(ids) == 1 else None

    def has(self, key: str | None, device_id: str) -> bool:
        return device_id in self.found.get(key or "", ())


class Directory:
    """The devices of an organization, to be added one by one."""

    def __init__(self) -> None:
        self._chassis, self._addresses = _Ids(), _Ids()
        self._names, self._full, self._hosts = _Ids(), _Ids(), _Ids()
        self._has_chassis: set[str] = set()

    def add(self, device: KnownDevice) -> None:
        for chassis in device.chassis_ids:
            self._chassis.add(chassis_key(chassis), device.id)
            self._has_chassis.add(device.id)
        # What the inventory calls it counts before what it calls itself: two may have kept a default name.
        self._names.add(full_name(device.name), device.id)
        for name in (device.name, device.sys_name):
            self._full.add(full_name(name), device.id)
            self._hosts.add(host_name(name), device.id)
        self._addresses.add(address_key(device.host), device.id)

    def add_interfaces(self, device_id: str, macs: Iterable[str], addresses: Iterable[str]) -> None:
        """Add the addresses of its interfaces."""
        for mac in macs:
            self._chassis.add(chassis_key(mac), device_id)
        for address in addresses:
            self._addresses.add(address_key(address), device_id)

    def match(self, neighbor: Mapping[str, Any], *, reporter: str) -> str | None:
        """Return the id of the device that the neighbor is; that of the device which hears it for itself."""
        chassis = chassis_key(neighbor["remote_chassis_id"])
        by_chassis, by_name = self._chassis.one(chassis), self._by_name(neighbor["remote_system_name"])
        if self._chassis.has(chassis, reporter):
            return by_name or by_chassis
        if by_chassis is not None:
            return by_chassis
        has_other_chassis = chassis is not None and reporter in self._has_chassis
        if by_name is not None and not (by_name == reporter and has_other_chassis):
            return by_name
        return self._addresses.one(address_key(neighbor["remote_mgmt_address"]))

    def match_all(self, neighbors: Sequence[Mapping[str, Any]], *, reporter: str) -> list[str | None]:
        """Return for each neighbor of a device the device that it is.

        A neighbor that says more over one protocol than over the other is still one: a row without a match is
        the device that another row of that interface is, if they have the chassis id or the name in common.
        """
        found = [self.match(neighbor, reporter=reporter) for neighbor in neighbors]
        if None not in found:
            return found
        here = _Ids()
        for neighbor, device_id in zip(neighbors, found, strict=True):
            if device_id is not None and device_id != reporter:
                for key in _keys_of_matched(neighbor):
                    here.add(key, device_id)
        return [
            device_id or next((one for key in _keys_of_unmatched(neighbor) if (one := here.one(key))), None)
            for neighbor, device_id in zip(neighbors, found, strict=True)
        ]

    def knows_chassis(self, neighbor: Mapping[str, Any]) -> bool:
        return self._chassis.one(chassis_key(neighbor["remote_chassis_id"])) is not None

    def _by_name(self, name: str | None) -> str | None:
        whole = full_name(name)
        return self._names.one(whole) or self._full.one(whole) or self._hosts.one(host_name(name))


def _keys_of_matched(neighbor: Mapping[str, Any]) -> list[str]:
    chassis, name, at = _identity_of(neighbor)
    found = [f"chassis {chassis} {at}"] if chassis else [f"name without chassis {name} {at}"]
    return [*found, f"name {name} {at}"] if name else found


def _keys_of_unmatched(neighbor: Mapping[str, Any]) -> list[str]:
    """Return the keys of an unmatched neighbor. Two chassis ids at one interface are two devices, also under
    one name.
    """
    chassis, name, at = _identity_of(neighbor)
    if chassis is None:
        return [f"name {name} {at}"] if name else []
    return [f"chassis {chassis} {at}"] + ([f"name without chassis {name} {at}"] if name else [])


def _identity_of(neighbor: Mapping[str, Any]) -> tuple[str | None, str | None, str]:
    name = host_name(neighbor["remote_system_name"])
    return chassis_key(neighbor["remote_chassis_id"]), name, neighbor["local_interface"]
