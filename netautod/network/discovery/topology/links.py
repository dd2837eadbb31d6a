"""Links out of what both of their ends say: each cable once, with both interfaces. Pure.

A side is what one device heard on one interface. Two sides are one link if each names the interface of the
other; where only one of them names it in a form that is known, that is enough, and where neither does, two
devices that hear each other on one interface each are joined by that one cable. An aggregate stands for each
of its members: some devices send its name on all of them.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.loop.pace import Pace
from netautod.core.net.device_addresses import mac_address
from netautod.network.discovery.topology.names import port_keys

End = tuple[str, str | None]
"""A node's id and the name of an interface."""


@dataclass(kw_only=True)
class Side:
    """A side of a link. `port` is the far end's interface as the near one says; `resolved` the far device's
    own name for it, and `members` those of the aggregate that it is.
    """

    near: End
    far: str
    port: str | None
    protocols: set[str]
    seen_at: datetime
    resolved: str | None = None
    members: frozenset[str] = frozenset()
    joined: bool = False


@dataclass(frozen=True, kw_only=True)
class Link:
    a: End
    b: End
    protocols: tuple[str, ...]
    seen_at: datetime


@dataclass(kw_only=True)
class PortNames:
    """The interfaces of one device under all forms that others know them by."""

    by_key: dict[str, str] = field(default_factory=dict)
    _members: dict[str, set[str]] = field(default_factory=dict)
    _twice: set[str] = field(default_factory=set)

    def add(self, interface: Mapping[str, Any]) -> None:
        """Add a row of its interface table; what two interfaces have in common identifies neither."""
        name = interface["name"]
        self.by_key[port_keys(name)[0]] = name
        others = [interface.get("mac_address"), interface.get("description")]
        if interface.get("if_index") is not None:
            others.append(str(interface["if_index"]))
        for other in others:
            if other:
                self._add_other(other.lower(), name)
        if interface.get("lag"):
            self._members.setdefault(port_keys(interface["lag"])[0], set()).add(name)

    def members(self, name: str | None) -> frozenset[str]:
        """Return the interfaces of an aggregate; none of another interface."""
        return frozenset() if name is None else frozenset(self._members.get(port_keys(name)[0], ()))

    def add_name(self, name: str) -> None:
        self.by_key[port_keys(name)[0]] = name

    def _add_other(self, key: str, name: str) -> None:
        if key in self._twice:
            return
        known = self.by_key.get(key)
        if known is None:
            self.by_key[key] = name
        elif known != name and port_keys(known)[0] != key:
            self._twice.add(key)
            del self.by_key[key]

    def find(self, port: str | None) -> str | None:
        if port is None:
            return None
        for key in (*port_keys(port), port.strip().lower()):
            if key in self.by_key:
                return self.by_key[key]
        return None


Join = Callable[[Side, list[Side], list[Side]], Side | None]
"""Finds the other side of one, among those that its far end says; the second are those of the same way."""


class Links:
    """The links in the making: sides are added one by one, then joined."""

    def __init__(self, ports: Mapping[str, PortNames]) -> None:
        self._ports = ports
        self._sides: dict[tuple[End, str], list[Side]] = {}

    def add(self, side: Side) -> None:
        """Add a side. LLDP and CDP on one cable are one side."""
        names = self._ports.get(side.far)
        if names is not None:
            side.resolved = names.find(side.port)
            side.members = names.members(side.resolved)
        known = self._sides.setdefault((side.near, side.far), [])
        for other in known:
            if _is_one(side, other):
                other.protocols |= side.protocols
                other.seen_at = max(other.seen_at, side.seen_at)
                if other.port is None or (side.port is not None and mac_address(other.port) is not None):
                    other.port = side.port  # a name tells more than a MAC address
                if other.resolved is None:
                    other.resolved, other.members = side.resolved, side.members
                return
        known.append(side)

    async def joined(self, pace: Pace) -> AsyncIterator[Link]:
        """Yield each link once; other tasks may run in between."""
        sides = [side for found in self._sides.values() for side in found]
        toward: dict[tuple[str, str], list[Side]] = {}
        for side in sides:
            toward.setdefault((side.near[0], side.far), []).append(side)
            await pace.breathe()
        for join in (_both_agree, _both_agree_loosely, _one_names_the_other, _only_one_each):
            for side in sides:
                for link in () if side.joined else self._join(side, toward, join):
                    yield link
                await pace.breathe()
        for side in sides:
            if not side.joined:
                side.joined = True
                yield _link(side.near, (side.far, side.resolved or side.port), side.protocols, side.seen_at)
            await pace.breathe()

    def _join(self, side: Side, toward: Mapping[tuple[str, str], list[Side]], join: Join) -> Iterable[Link]:
        back = toward.get((side.far, side.near[0]))
        if back is None:
            return
        own = [one for one in toward[side.near[0], side.far] if not one.joined]
        others = [one for one in back if not one.joined and one is not side]
        other = join(side, own, others)
        if other is not None:
            side.joined = other.joined = True
            seen = max(side.seen_at, other.seen_at)
            yield _link(side.near, other.near, side.protocols | other.protocols, seen)


def _is_one(side: Side, other: Side) -> bool:
    if side.resolved is not None and other.resolved is not None:
        return side.resolved == other.resolved
    if side.port is None or other.port is None or side.port == other.port:
        return True
    if port_keys(side.port)[0] == port_keys(other.port)[0]:
        return True
    # The two protocols may name one port by its name and by its MAC address.
    return not side.protocols & other.protocols


def _both_agree(side: Side, own: list[Side], others: list[Side]) -> Side | None:
    return next((one for one in others if _names(side, one) and _names(one, side)), None)


def _both_agree_loosely(side: Side, own: list[Side], others: list[Side]) -> Side | None:
    """Return the other side where both names mean one cable but differ: an interface and its unit, an
    aggregate and its member, or capitals.
    """
    return next((one for one in others if _may_name(side, one) and _may_name(one, side)), None)


def _one_names_the_other(side: Side, own: list[Side], others: list[Side]) -> Side | None:
    """Return the other side where only one of them names a known interface: the other's form is unknown."""
    for one in others:
        if (_names(side, one) and one.resolved is None) or (_names(one, side) and side.resolved is None):
            return one
    return None


def _only_one_each(side: Side, own: list[Side], others: list[Side]) -> Side | None:
    if len(own) == 1 and len(others) == 1 and side.resolved is None and others[0].resolved is None:
        return others[0]
    return None


def _names(side: Side, other: Side) -> bool:
    """Return whether the side says that its far end is the interface of the other."""
    return side.resolved is not None and side.resolved == other.near[1]


def _may_name(side: Side, other: Side) -> bool:
    if side.resolved is None or other.near[1] is None:
        return False
    forms = {form for name in (side.resolved, *side.members) for form in port_keys(name)}
    return not forms.isdisjoint(port_keys(other.near[1]))


def _link(one: End, other: End, protocols: Iterable[str], seen_at: datetime) -> Link:
    a, b = sorted((one, other), key=lambda end: (end[0], end[1] or ""))
    return Link(a=a, b=b, protocols=tuple(sorted(protocols)), seen_at=seen_at)
