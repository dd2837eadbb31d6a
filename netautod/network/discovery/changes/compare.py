"""The comparison of a poll with the one before: neighbors, interfaces, reachability. Pure.

Only what was read whole is compared, and in the form in which it is stored: a row that a collector has not
normalised, or that is none, would else be a change at every poll, or end the poll. A neighbor is lost on an
interface if none is heard there any more that could be it: by chassis id, name or address, whatever protocol
says so and whatever its port is called now.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from netautod.network.discovery.tables.checks import NAME_CHARACTERS, Unusable, text
from netautod.network.discovery.tables.checks import neighbor as checked_neighbor
from netautod.network.discovery.tables.models import Before
from netautod.network.discovery.topology.names import chassis_key, host_name
from netautod.plugin_api.discovery.rows import Collected, Interface, Neighbor

Kind = Literal["neighbor_lost", "interface_down", "device_unreachable", "device_reachable"]
DOWN = frozenset({"down", "lowerLayerDown", "notPresent"})


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change. `interface` is the device's own; the rest says which neighbor was heard there last."""

    kind: Kind
    interface: str | None = None
    neighbor_name: str | None = None
    neighbor_chassis_id: str | None = None


def changes_of(
    before: Before, found: Collected, *, reachable: bool | None, failures: int, unreachable_after: int
) -> list[Change]:
    """Return the changes. `failures`: polls in a row without an answer, this one included."""
    changes: list[Change] = []
    if reachable is False and before.failures < unreachable_after <= failures:
        changes.append(Change(kind="device_unreachable"))
    if reachable and before.failures >= unreachable_after:
        changes.append(Change(kind="device_reachable"))
    if before.neighbors is not None and found.neighbors is not None:
        changes += _lost(before.neighbors, found.neighbors)
    if before.interfaces is not None and found.interfaces is not None:
        changes += _down(before.interfaces, found.interfaces)
    return changes


def _lost(before: Sequence[Mapping[str, Any]], now: Iterable[object]) -> list[Change]:
    present: dict[str, set[tuple[str, str]]] = {}
    for one in now:
        if not isinstance(one, Neighbor):
            continue
        try:
            present_now = checked_neighbor(one)
        except Unusable:
            continue
        identity = _identity(
            present_now["remote_chassis_id"],
            present_now["remote_system_name"],
            present_now["remote_mgmt_address"],
        )
        present.setdefault(present_now["local_interface"], set()).update(identity)
    lost: dict[tuple[Any, ...], Change] = {}
    for row in before:
        interface, chassis, name = (
            row["local_interface"],
            row["remote_chassis_id"],
            row["remote_system_name"],
        )
        identity = _identity(chassis, name, row["remote_mgmt_address"])
        if not identity or not identity.isdisjoint(present.get(interface, ())):
            continue
        # One that spoke both protocols is lost once.
        key = (interface, host_name(name) or chassis_key(chassis))
        lost.setdefault(
            key,
            Change(
                kind="neighbor_lost", interface=interface, neighbor_name=name, neighbor_chassis_id=chassis
            ),
        )
    return list(lost.values())


def _identity(chassis: str | None, name: str | None, address: str | None) -> set[tuple[str, str]]:
    """Return the keys that a neighbor could be known by; none for one that says nothing of itself."""
    found = (("chassis", chassis_key(chassis)), ("name", host_name(name)), ("address", address))
    return {(kind, key) for kind, key in found if key is not None}


def _down(before: Sequence[Mapping[str, Any]], now: Iterable[object]) -> list[Change]:
    """Return the interfaces that went down; one that was turned off by configuration is no surprise."""
    up = {row["name"] for row in before if row["oper_status"] == "up"}
    down = (one for one in now if isinstance(one, Interface) and text(one.oper_status) in DOWN)
    # A name that stands in the table twice is one interface for observers.
    names = dict.fromkeys(text(one.name, NAME_CHARACTERS) for one in down if one.admin_status != "down")
    return [Change(kind="interface_down", interface=name) for name in names if name in up]
