"""Two saved sources that have the same devices: both answer for what either of them has brought."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from netautod.network.devices.bindings.service import SyncedDevices
from netautod.plugin_api import RemoteDevice
from netautod.store.scoped import scoped
from tests.network.inventory.sync.fake_inventory import TOKEN, URL, machine
from tests.network.inventory.sync.world import AD_HOC, SOURCES, World, after_the_plan, counts

URLS = {"a": URL, "b": "http://192.0.2.81"}
Step = Callable[["Two"], Awaitable[None]]


class Two:
    """Sources `a` and `b`, which number their devices in their own ways."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sources: dict[str, Any] = {}
        self.last: Any = None

    async def save(self, name: str) -> None:
        self.sources[name] = await self.world.source(name=name, url=URLS[name])
        self.world.remote.elsewhere[URLS[name]] = []

    def has(self, name: str, *numbers: int) -> None:
        offset = 100 * (name == "b")
        self.world.remote.elsewhere[URLS[name]] = [_machine(number, offset) for number in numbers]

    async def sync(self, name: str, query: str = "", *, confirm_removals: bool = True) -> Any:
        body = {"confirm_removals": confirm_removals}
        self.last = await self.world.sync(self.sources[name], body, query)
        return self.last


def _machine(number: int, offset: int) -> RemoteDevice:
    return machine(number + offset, f"sw{number}", host=f"192.0.2.{number}")


@pytest.fixture
async def two(world: World) -> Two:
    made = Two(world)
    for name in URLS:
        await made.save(name)
    return made


def has(name: str, *numbers: int) -> Step:
    """The inventory has these from now on, and is synchronised."""

    async def step(two: Two) -> None:
        two.has(name, *numbers)
        assert (await two.sync(name))["errors"] == []

    return step


def deleted(name: str) -> Step:
    async def step(two: Two) -> None:
        path = f"{SOURCES}/{two.sources[name]['id']}"
        assert (await two.world.api.delete(path)).status == 200

    return step


async def by_hand(two: Two) -> None:
    await two.world.device(name="sw1", host="192.0.2.1")


async def ad_hoc(two: Two) -> None:
    two.has("a", 1)
    body = {"inventory_url": URLS["a"], "token": TOKEN}
    assert (await two.world.api.post(AD_HOC, body)).json["added"] == 1


async def as_before_the_upgrade(two: Two) -> None:
    """Only the source that was first said that it had brought the device."""
    devices = scoped(two.world.database, "devices")
    (device,) = await devices.find(two.world.org_id, {})
    bindings = [{**binding, "brought": not position} for position, binding in enumerate(device["bindings"])]
    await devices.update(two.world.org_id, {}, {"$set": {"bindings": bindings}})


async def deleted_by_hand(two: Two) -> None:
    (device,) = (await two.world.node.all()).values()
    assert (await two.world.api.delete(f"/api/devices/{device.id}")).status == 204


STAYS, GOES = ["sw1"], list[str]()


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        pytest.param([has("a", 1), has("b", 1), has("a")], STAYS, id="the second one still has it"),
        pytest.param([has("a", 1), has("b", 1), has("b")], STAYS, id="the first one still has it"),
        pytest.param([has("a", 1), has("b", 1), has("a"), has("b")], GOES, id="neither, the first one first"),
        pytest.param(
            [has("a", 1), has("b", 1), has("b"), has("a")], GOES, id="neither, the second one first"
        ),
        pytest.param(
            [has("a", 1), has("b", 1), has("a"), has("a", 1), has("b")], STAYS, id="the first has it again"
        ),
        pytest.param(
            [has("a", 1), has("b", 1), has("a"), has("a", 1), has("b"), has("a")],
            GOES,
            id="and lost it again",
        ),
        pytest.param([has("a", 1), has("b", 1), has("a"), has("a")], STAYS, id="a release is done once"),
        pytest.param(
            [by_hand, has("a", 1), has("b", 1), has("a"), has("b")], STAYS, id="both adopted one made by hand"
        ),
        pytest.param(
            [by_hand, has("a", 1), has("b", 1), has("b"), has("a"), has("a", 1), has("a")],
            STAYS,
            id="both adopted one made by hand, in another order",
        ),
        pytest.param(
            [ad_hoc, has("a", 1), has("b", 1), has("a"), has("b")],
            STAYS,
            id="both adopted one of an ad hoc sync",
        ),
        pytest.param(
            [has("a", 1), has("b", 1), deleted("a"), has("b")], GOES, id="the second one answers for it alone"
        ),
        pytest.param(
            [has("a", 1), has("b", 1), deleted("b"), has("a")], GOES, id="the first one answers for it alone"
        ),
        pytest.param(
            [has("a", 1), deleted("a"), has("b", 1), has("b")],
            STAYS,
            id="one that is bound to nothing any more is adopted",
        ),
        pytest.param(
            [has("a", 1), has("b", 1), deleted("a"), deleted("b")],
            STAYS,
            id="deleting sources removes nothing",
        ),
        pytest.param(
            [has("a", 1), has("b", 1), as_before_the_upgrade, has("b"), has("a")],
            GOES,
            id="from before the upgrade, the second one first",
        ),
        pytest.param(
            [has("a", 1), has("b", 1), as_before_the_upgrade, has("a"), has("b")],
            GOES,
            id="from before the upgrade, the first one first",
        ),
        pytest.param(
            [has("a", 1), has("b", 1), as_before_the_upgrade, deleted("a"), has("b")],
            GOES,
            id="from before the upgrade, the first one deleted",
        ),
        pytest.param(
            [has("a", 1), has("b", 1), deleted_by_hand, has("a", 1), has("b"), has("a")],
            GOES,
            id="one that was deleted by hand and came back",
        ),
    ],
)
async def test_a_device_stays_while_one_of_its_sources_has_it(
    two: Two, steps: list[Step], left: list[str]
) -> None:
    for step in steps:
        await step(two)
    assert await two.world.names() == left


async def test_a_release_is_told_before_and_a_removal_is_counted(two: Two) -> None:
    for name in URLS:
        two.has(name, 1, 2)
        await two.sync(name)
    ids = {name: device.id for name, device in (await two.world.node.all()).items()}
    two.has("a", 2)
    preview = await two.sync("a", "?dry_run=true")
    assert (counts(preview), preview["plan"]["remove"]) == ((0, 0, 1, 0, 0), [])
    assert preview["plan"]["release"] == [{"device_id": ids["sw1"], "name": "sw1"}]
    assert counts(await two.sync("a")) == (0, 0, 1, 0, 0)
    released = [event for event in await two.world.audited("device.update") if event["sync"] == "release"]
    assert released == [{"name": "sw1", "fields": [], "sync": "release"}]
    two.has("b", 2)
    preview = await two.sync("b", "?dry_run=true")
    assert (counts(preview), preview["plan"]["release"]) == ((0, 0, 1, 0, 1), [])
    assert preview["plan"]["remove"] == [{"device_id": ids["sw1"], "name": "sw1"}]
    assert counts(await two.sync("b")) == (0, 0, 1, 0, 1)


async def test_both_know_a_removed_device_again(two: Two) -> None:
    for step in (has("a", 1), has("b", 1)):
        await step(two)
    first = (await two.world.node.all())["sw1"].id
    for step in (has("a"), has("b"), has("a", 1)):
        await step(two)
    assert (counts(two.last), (await two.world.node.all())["sw1"].id) == ((1, 0, 0, 0, 0), first)
    for step in (has("b"), has("a")):
        await step(two)
    assert await two.world.names() == []


async def test_the_number_follows_the_source_that_still_has_the_device(two: Two) -> None:
    async def number() -> int | None:
        return (await two.world.node.all())["sw1"].inventory_id

    for step in (has("a", 1), has("b", 1)):
        await step(two)
    assert await number() == 1
    for step in (has("a"), has("b", 1)):
        await step(two)
    assert await number() == 101
    await deleted("b")(two)
    assert await number() is None


async def test_what_several_sources_brought_counts_for_the_guard_of_each(two: Two) -> None:
    for name in URLS:
        two.has(name, *range(1, 13))
        await two.sync(name)
    for name in ("b", "a"):
        two.has(name, 1)
        refused = await two.sync(name, confirm_removals=False)
        assert counts(refused) == (0, 0, 1, 0, 0)
        assert refused["errors"][0]["error"].startswith("not removed: 11 of the 12 devices of this source")
    assert counts(await two.sync("b")) == (0, 0, 1, 0, 0)
    # Those that `b` has released are no devices of `b` any more.
    two.has("b")
    refused = await two.sync("b", confirm_removals=False)
    assert refused["errors"][0]["error"].startswith("not removed: 1 of the 1 devices of this source")
    assert counts(await two.sync("a")) == (0, 0, 1, 0, 11)
    assert await two.world.names() == ["sw1"]


async def test_two_syncs_that_lose_a_device_at_the_same_moment_remove_it(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in URLS:
        two.has(name, 1, 2)
        await two.sync(name)
        two.has(name, 2)
    both, real = asyncio.Barrier(2), SyncedDevices.known

    async def read_together(self: SyncedDevices, *args: Any, **options: Any) -> Any:
        found = await real(self, *args, **options)
        await both.wait()
        return found

    monkeypatch.setattr(SyncedDevices, "known", read_together)
    results = await asyncio.gather(*(two.sync(name) for name in URLS))
    assert sorted(counts(result) for result in results) == [(0, 0, 1, 0, 0), (0, 0, 1, 0, 1)]
    assert [result["errors"] for result in results] == [[], []]
    assert await two.world.names() == ["sw2"]


async def test_a_device_that_another_source_finds_at_this_moment_stays(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    await has("a", 1)(two)
    first = (await two.world.node.all())["sw1"].id
    two.has("a")
    two.has("b", 1)

    async def find() -> None:
        monkeypatch.undo()
        assert (await two.sync("b"))["errors"] == []

    after_the_plan(monkeypatch, find)
    assert (counts(await two.sync("a")), two.last["errors"]) == ((0, 0, 0, 0, 0), [])
    assert (await two.world.node.all())["sw1"].id == first
    await has("b")(two)
    assert await two.world.names() == []


async def test_a_device_deleted_by_hand_at_this_moment_is_no_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    world.remote.has()
    after_the_plan(monkeypatch, lambda: world.api.delete(path))
    result = await world.sync(source, {"confirm_removals": True})
    assert (counts(result), result["errors"]) == ((0, 0, 0, 0, 0), [])


async def test_a_dry_run_knows_which_devices_are_in_use(world: World) -> None:
    world.remote.has(*(machine(number, f"sw{number}") for number in range(1, 6)))
    source = await world.source()
    await world.sync(source)
    made = await world.node.all()
    for device, via in (("sw2", "sw1"), ("sw3", "sw2"), ("sw5", "sw4")):
        path = f"/api/devices/{made[device].id}"
        assert (await world.api.put(path, {"jump_device_id": made[via].id})).status == 200
    world.remote.drop(1, 2, 4, 5)  # sw3 stays, and is reached through sw2 and sw1
    body = {"confirm_removals": True}
    preview = await world.sync(source, body, "?dry_run=true")
    assert counts(preview) == (0, 0, 1, 2, 2)
    assert sorted(each["name"] for each in preview["plan"]["remove"]) == ["sw4", "sw5"]
    result = await world.sync(source, body)
    assert counts(result) == counts(preview)
    assert sorted(map(str, result["errors"])) == sorted(map(str, preview["errors"]))
