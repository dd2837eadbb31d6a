"""The plan of a synchronisation: from the devices here and those of the inventory to what has to be done.

For each device of the inventory the first of these applies:
1. The device bound to its external id under the binding's key is updated, whatever the names say: an id that
   the inventory has given to another machine makes the device here that machine.
2. A live device with the same name and host is adopted. It is never removed later, unless it was brought by
   this inventory under an id that is gone.
3. A deleted device of this external id comes back with its history, also one that was deleted by hand.
4. A device is made.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from netautod.network.devices.bindings.models import BoundDevice, DeviceWrite, KnownDevice, NewDevice
from netautod.network.inventory.sync.desired import DesiredDevice
from netautod.network.inventory.sync.merge import (
    ADOPT,
    CREATE,
    REVIVE,
    UPDATE,
    merge,
    new_binding,
    new_values,
    release,
)
from netautod.network.inventory.sync.names import NameClaim, losers


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of the walk and the request. `seen`: all external ids that the inventory named, importable or
    not.

    `removes`: what the inventory has no more is removed, if the walk was complete. `unchanged` devices are
    not among those to be planned: they are what the inventory says, and keep their names. `vouched`: whether
    the inventory was named by a user who may manage credentials.
    """

    key: str
    seen: frozenset[str]
    complete: bool
    removes: bool
    confirm_removals: bool = False
    unchanged: Sequence[BoundDevice] = ()
    vouched: bool = False


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The reason why a device is left as it is; `desired` is None if it is about the whole
    synchronisation.
    """

    desired: DesiredDevice | None
    error: str


@dataclass(kw_only=True)
class Plan:
    """A plan. `rebound` devices change nothing that can be seen, only their bindings: they count as
    unchanged.

    `released` devices are gone from this source and stay for another one. `refused` are reported as errors.
    `unconfirmed` counts the devices that would go, if a user confirmed it.
    """

    creates: list[NewDevice] = field(default_factory=list)
    updates: list[DeviceWrite] = field(default_factory=list)
    adopts: list[DeviceWrite] = field(default_factory=list)
    revives: list[DeviceWrite] = field(default_factory=list)
    rebound: list[DeviceWrite] = field(default_factory=list)
    removals: list[KnownDevice] = field(default_factory=list)
    released: list[DeviceWrite] = field(default_factory=list)
    unchanged: list[DesiredDevice] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    unconfirmed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Match:
    desired: DesiredDevice
    action: str
    known: KnownDevice | None

    @property
    def current(self) -> str | None:
        return None if self.known is None or not self.known.live else self.known.name


def make_plan(known: Iterable[KnownDevice], desired: Sequence[DesiredDevice], facts: Facts) -> Plan:
    """Return the plan.

    `known`: the live devices bound under the key except the unchanged ones, the live ones with a desired
    name, and the deleted ones with a desired external id, newest first.
    """
    devices = list({device.id: device for device in known}.values())
    matches = _matches(devices, list({one.external_id: one for one in desired}.values()), facts)
    claimed = {match.known.id for match in matches if match.known is not None}
    plan = Plan()
    left = [device for device in devices if device.live and device.id not in claimed]
    _plan_removals(plan, left, devices, facts)
    going = {device.id for device in plan.removals}
    foreign = {device.name for device in left if device.id not in going}
    claims = [
        NameClaim(id=match.desired.external_id, wanted=match.desired.name, current=match.current)
        for match in matches
    ]
    kept = {device.name for device in facts.unchanged}
    without = losers(claims, foreign | kept)
    for match in matches:
        if match.desired.external_id in without:
            plan.refused.append(_name_taken(match.desired, foreign))
        else:
            _plan_one(plan, match, facts)
    return plan


def _matches(devices: Sequence[KnownDevice], desired: Sequence[DesiredDevice], facts: Facts) -> list[_Match]:
    bound: dict[str, KnownDevice] = {}
    deleted: dict[str, KnownDevice] = {}
    for device in devices:
        binding = device.binding(facts.key)
        if binding is not None:
            (bound if device.live else deleted).setdefault(binding.external_id, device)
    by_name = {device.name: device for device in devices if device.live}
    # Of another device that the inventory has too, even if that one is not to be had at the moment.
    taken = {device.id for external_id, device in bound.items() if external_id in facts.seen}
    found = []
    for one in desired:
        match = _match(one, bound, by_name, deleted, taken)
        if match.known is not None:
            taken.add(match.known.id)
        found.append(match)
    return found


def _match(
    one: DesiredDevice,
    bound: dict[str, KnownDevice],
    by_name: dict[str, KnownDevice],
    deleted: dict[str, KnownDevice],
    taken: set[str],
) -> _Match:
    if one.external_id in bound:
        return _Match(desired=one, action=UPDATE, known=bound[one.external_id])
    same = by_name.get(one.name)
    if same is not None and same.id not in taken and same_host(str(same.values["host"]), one.host):
        return _Match(desired=one, action=ADOPT, known=same)
    if one.external_id in deleted:
        return _Match(desired=one, action=REVIVE, known=deleted[one.external_id])
    return _Match(desired=one, action=CREATE, known=None)


def _plan_removals(
    plan: Plan, left: Sequence[KnownDevice], devices: Sequence[KnownDevice], facts: Facts
) -> None:
    if not (facts.removes and facts.complete):
        return
    gone = _gone(left, facts)
    brought = [device for device in devices if device.live and device.is_brought_by(facts.key)]
    all_brought = len(brought) + sum(device.brought for device in facts.unchanged)
    if len(gone) * 2 > all_brought and not facts.confirm_removals:
        plan.refused.append(Refused(desired=None, error=_unconfirmed(len(gone), all_brought, facts)))
        plan.unconfirmed = len(gone)
        return
    plan.removals, plan.released = partings(gone, facts)


def _unconfirmed(gone: int, brought: int, facts: Facts) -> str:
    """Return why devices wait for a confirmation: a wrong filter or token, or an inventory that was just
    emptied, answers as one whose devices are really gone.
    """
    about = f"{gone} of the {brought} devices of this source are missing in the inventory"
    answer = "" if facts.seen else ", whose answer is empty"
    return f"not removed: {about}{answer}; send confirm_removals to remove them"


def partings(devices: Iterable[KnownDevice], facts: Facts) -> tuple[list[KnownDevice], list[DeviceWrite]]:
    """Return which of the devices are removed, and which are released: another saved source still has those.

    Only devices that are gone from the inventory are in either; which those are may have changed meanwhile.
    """
    removals: list[KnownDevice] = []
    released: list[DeviceWrite] = []
    for device in _gone(devices, facts):
        if any(binding.keeps for binding in device.bindings if binding.key != facts.key):
            released.append(release(device, facts.key))
        else:
            removals.append(device)
    return removals, released


def _gone(devices: Iterable[KnownDevice], facts: Facts) -> list[KnownDevice]:
    """Return the live devices that this source answers for and that its inventory has no more."""
    found = []
    for device in devices:
        binding = device.binding(facts.key)
        if binding is None or binding.external_id in facts.seen:
            continue
        if device.live and device.is_brought_by(facts.key):
            found.append(device)
    return found


def _plan_one(plan: Plan, match: _Match, facts: Facts) -> None:
    one, key = match.desired, facts.key
    if match.known is None:
        binding = new_binding(one, key)
        made = NewDevice(values=new_values(one), binding=binding, digest=one.digest, vouched=facts.vouched)
        plan.creates.append(made)
        return
    write = replace(merge(match.known, one, key, match.action), vouched=facts.vouched)
    if match.action == REVIVE:
        plan.revives.append(write)
    elif match.action == ADOPT and match.known.binding(key) is None:
        plan.adopts.append(write)
    elif write.values:
        plan.updates.append(write)
    elif write.bindings is not None or write.digest not in (None, match.known.digest):
        plan.rebound.append(write)
    else:
        plan.unchanged.append(one)


def _name_taken(desired: DesiredDevice, foreign: set[str]) -> Refused:
    if desired.name in foreign:
        text = "the name belongs to another device, whose host is not the same"
    else:
        text = "another device of the inventory has the same name"
    return Refused(desired=desired, error=text)


def same_host(one: str, other: str) -> bool:
    """Return whether two hosts are the same by their spelling: IPv6 has many, host names ignore case."""
    return one == other or _plain(one) == _plain(other)


def _plain(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower().removesuffix(".")
