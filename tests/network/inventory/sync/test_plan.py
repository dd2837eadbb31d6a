"""The plan of a synchronisation, case by case."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from netautod.network.devices.bindings.models import BoundDevice, KnownDevice
from netautod.network.inventory.sync.desired import DesiredDevice
from netautod.network.inventory.sync.plan import Plan, make_plan, same_host
from tests.network.inventory.sync.devices import OTHER_KEY, bound, facts, local, remote, synced

TAKEN = "the name belongs to another device, whose host is not the same"
TWICE = "another device of the inventory has the same name"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The plan by names (creations), device ids (the rest) and external ids (unchanged, refused)."""

    create: set[str] = field(default_factory=set)
    update: dict[str, set[str]] = field(default_factory=dict)
    adopt: dict[str, set[str]] = field(default_factory=dict)
    revive: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    remove: set[str] = field(default_factory=set)
    release: set[str] = field(default_factory=set)
    unchanged: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)


def shown(plan: Plan) -> Expected:
    return Expected(
        create={made.name for made in plan.creates},
        update={write.before.id: set(write.values) for write in plan.updates},
        adopt={write.before.id: set(write.values) for write in plan.adopts},
        revive={write.before.id for write in plan.revives},
        rebound={write.before.id for write in plan.rebound},
        remove={device.id for device in plan.removals},
        release={write.before.id for write in plan.released},
        unchanged={one.external_id for one in plan.unchanged},
        refused={
            refused.desired.external_id if refused.desired else "": refused.error for refused in plan.refused
        },
    )


def twelve(*, but: int = 0) -> list[KnownDevice]:
    return [synced(number, f"sw{number}") for number in range(1, 13 - but)]


CASES = [
    pytest.param([], [remote(1, "a")], {}, Expected(create={"a"}), id="a new device is made"),
    pytest.param(
        [synced(1, "a")], [remote(1, "a")], {}, Expected(unchanged={"1"}), id="the same again is unchanged"
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(1, "b")],
        {},
        Expected(update={"d1": {"name"}}),
        id="a device that was renamed there is renamed here",
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(1, "fw", "198.51.100.7", device_type="fortinet")],
        {},
        Expected(update={"d1": {"name", "host", "device_type"}}),
        id="an id that was given to another machine makes the device that machine",
    ),
    pytest.param(
        [],
        [remote(1, "a"), remote(2, "a")],
        {},
        Expected(create={"a"}, refused={"2": TWICE}),
        id="of two devices there with one name the first is made",
    ),
    pytest.param(
        [synced(2, "a")],
        [remote(1, "a"), remote(2, "a")],
        {},
        Expected(unchanged={"2"}, refused={"1": TWICE}),
        id="of two with one name the one that has it here keeps it",
    ),
    pytest.param(
        [local("m", "a", "198.51.100.1")],
        [remote(1, "a")],
        {},
        Expected(refused={"1": TAKEN}),
        id="a manual device with the name and another host is left alone",
    ),
    pytest.param(
        [local("m", "a", "192.0.2.1")],
        [remote(1, "a")],
        {},
        Expected(adopt={"m": {"inventory_id", "source"}}),
        id="a manual device with the same name and host is adopted",
    ),
    pytest.param(
        [local("m", "a", "2001:DB8:0::1")],
        [remote(1, "a", "2001:db8::1")],
        {},
        Expected(adopt={"m": {"host", "inventory_id", "source"}}),
        id="the same host in another spelling is the same host",
    ),
    pytest.param(
        [local("m", "a", "192.0.2.1")],
        [remote(1, "a"), remote(2, "a", "192.0.2.1")],
        {},
        Expected(adopt={"m": {"inventory_id", "source"}}, refused={"2": TWICE}),
        id="a device is adopted once",
    ),
    pytest.param(
        [synced(1, "a", brought=False)],
        [],
        {},
        Expected(),
        id="an adopted device is never removed",
    ),
    pytest.param(
        [synced(1, "a")], [], {}, Expected(remove={"d1"}), id="a brought device that is gone is removed"
    ),
    pytest.param(
        [synced(1, "a")], [], {"complete": False}, Expected(), id="an incomplete walk removes nothing"
    ),
    pytest.param([synced(1, "a")], [], {"removes": False}, Expected(), id="an ad hoc sync removes nothing"),
    pytest.param(
        [synced(1, "a")],
        [],
        {"also_seen": {"1"}},
        Expected(),
        id="a device that is there but cannot be imported is not removed",
    ),
    pytest.param(
        [local("d1", "a", "192.0.2.1", bound(1), bound(7, key=OTHER_KEY))],
        [],
        {},
        Expected(release={"d1"}),
        id="a device that another saved source has too is released",
    ),
    pytest.param(
        [local("d1", "a", "192.0.2.1", bound(1), bound(7, key="origin:https://netbox:443"))],
        [],
        {},
        Expected(remove={"d1"}),
        id="an earlier ad hoc sync keeps no device from removal",
    ),
    pytest.param(
        [local("d1", "a", "192.0.2.1", bound(7, key=OTHER_KEY))],
        [remote(1, "a")],
        {},
        Expected(adopt={"d1": set()}),
        id="a device of another source is adopted, without a change",
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(9, "a", "192.0.2.1")],
        {},
        Expected(update={"d1": {"inventory_id"}}),
        id="a device that got another id there stays the same device",
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(9, "a", "192.0.2.1")],
        {"also_seen": {"1"}},
        Expected(refused={"9": TAKEN}),
        id="but not while the old id is there too",
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(9, "a")],
        {},
        Expected(remove={"d1"}, create={"a"}),
        id="a name that a removal frees is free",
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(9, "a")],
        {"complete": False},
        Expected(refused={"9": TAKEN}),
        id="a name that no removal frees is taken",
    ),
    pytest.param(
        [synced(1, "a"), synced(2, "b")],
        [remote(1, "b"), remote(2, "a")],
        {},
        Expected(update={"d1": {"name"}, "d2": {"name"}}),
        id="two devices that swapped their names swap them here",
    ),
    pytest.param(
        [synced(1, "a"), synced(2, "b"), local("m", "c", "198.51.100.1")],
        [remote(1, "b"), remote(2, "c")],
        {},
        Expected(refused={"1": TWICE, "2": TAKEN}),
        id="a rename that is refused keeps the name from the next one",
    ),
    pytest.param(
        [synced(1, "a")],
        [remote(1, "b"), remote(2, "a")],
        {},
        Expected(update={"d1": {"name"}}, create={"a"}),
        id="a name that a rename frees is free",
    ),
    pytest.param(
        [synced(1, "a", live=False)],
        [remote(1, "a")],
        {},
        Expected(revive={"d1"}),
        id="a removed device that is there again comes back",
    ),
    pytest.param(
        [synced(1, "a", live=False), local("m", "a", "192.0.2.1")],
        [remote(1, "a")],
        {},
        Expected(adopt={"m": {"inventory_id", "source"}}),
        id="a live device with its name and host goes before a deleted one",
    ),
    pytest.param(
        [synced(1, "a", live=False), local("m", "a", "198.51.100.1")],
        [remote(1, "a")],
        {},
        Expected(refused={"1": TAKEN}),
        id="a deleted device whose name is taken stays deleted",
    ),
    pytest.param(
        [synced(1, "b"), local("old", "a", "192.0.2.9", bound(1), live=False)],
        [remote(1, "b"), remote(2, "a")],
        {},
        Expected(unchanged={"1"}, create={"a"}),
        id="the name of a deleted device is free",
    ),
    pytest.param(
        twelve(),
        [remote(number, f"sw{number}") for number in range(1, 7)],
        {"confirm_removals": False},
        Expected(unchanged={str(n) for n in range(1, 7)}, remove={f"d{n}" for n in range(7, 13)}),
        id="half of the devices can go at once",
    ),
    pytest.param(
        twelve(),
        [],
        {},
        Expected(remove={f"d{n}" for n in range(1, 13)}),
        id="all of them with a confirmation",
    ),
]


@pytest.mark.parametrize(("known", "wanted", "more", "expected"), CASES)
def test_the_plan(
    known: list[KnownDevice], wanted: list[DesiredDevice], more: dict[str, Any], expected: Expected
) -> None:
    more = {"confirm_removals": True, **more}
    assert shown(make_plan(known, wanted, facts(wanted, **more))) == expected


@pytest.mark.parametrize(
    ("known", "kept", "expected"),
    [
        pytest.param(twelve(), 5, "7 of the 12", id="over half of many"),
        pytest.param(twelve(but=9), 1, "2 of the 3", id="over half of three"),
        pytest.param(twelve(but=2), 0, "10 of the 10", id="all of ten"),
        pytest.param(twelve(but=11), 0, "1 of the 1", id="the only one"),
    ],
)
def test_over_half_of_the_devices_wait_for_a_confirmation(
    known: list[KnownDevice], kept: int, expected: str
) -> None:
    wanted = [remote(number, f"sw{number}") for number in range(1, kept + 1)]
    plan = make_plan(known, wanted, facts(wanted))
    empty = "" if kept else ", whose answer is empty"
    text = f"not removed: {expected} devices of this source are missing in the inventory{empty};"
    assert shown(plan).remove == set()
    assert shown(plan).refused == {"": f"{text} send confirm_removals to remove them"}
    assert plan.unconfirmed == len(known) - kept


def test_devices_that_were_adopted_do_not_count_for_the_guard() -> None:
    adopted = [synced(number, f"old{number}", brought=False) for number in range(20, 60)]
    plan = make_plan([*twelve(but=1), *adopted], [], facts([]))
    assert (plan.removals, len(plan.refused)) == ([], 1)


def unchanged(*numbers: int, brought: bool = True) -> list[BoundDevice]:
    return [
        BoundDevice(id=f"d{number}", name=f"sw{number}", external_id=str(number), brought=brought, digest="x")
        for number in numbers
    ]


def test_devices_that_did_not_change_count_for_the_guard_if_they_were_brought() -> None:
    gone = twelve(but=6)
    few = make_plan(gone, [], facts([], unchanged=unchanged(*range(7, 12))))
    many = make_plan(gone, [], facts([], unchanged=unchanged(*range(7, 13))))
    adopted = make_plan(gone, [], facts([], unchanged=unchanged(*range(7, 13), brought=False)))
    assert [len(plan.removals) for plan in (few, many, adopted)] == [0, 6, 0]


def test_devices_that_are_gone_here_do_not_count_for_the_guard() -> None:
    back = synced(20, "back", live=False)
    wanted = [remote(number, f"sw{number}") for number in range(1, 6)]
    wanted.append(remote(20, "back"))
    plan = make_plan([*twelve(but=1), back], wanted, facts(wanted))
    assert (len(plan.removals), plan.unconfirmed, len(plan.revives)) == (0, 6, 1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("core-1.example.net", "CORE-1.example.net.", True),
        ("2001:db8::1", "2001:0db8:0:0::0001", True),
        ("192.0.2.1", "192.0.2.10", False),
        ("192.0.2.1", "core-1", False),
    ],
)
def test_same_hosts(one: str, other: str, same: bool) -> None:
    assert same_host(one, other) is same
