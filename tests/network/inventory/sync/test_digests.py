"""A device that is as the last synchronisation left it is not looked at; after any change, it is."""

from typing import Any

import pytest

from netautod.network.devices.bindings.models import BoundDevice
from netautod.network.inventory.sync import desired as rules
from netautod.network.inventory.sync.digests import BoundDevices
from tests.network.inventory.sync.fake_inventory import machine
from tests.network.inventory.sync.world import World, after_the_plan


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the devices that were checked, each of which is then read and compared too."""
    names: list[str] = []
    real = rules.desired_device

    def noted(device: Any, digest: str | None = None) -> rules.DesiredDevice:
        names.append(device.name)
        return real(device, digest)

    monkeypatch.setattr(rules, "desired_device", noted)
    return names


async def test_only_what_has_changed_there_is_looked_at(world: World, checked: list[str]) -> None:
    world.remote.has(machine(1, "sw1", metadata={"a": [1]}), machine(2, "sw2"), machine(3, "sw3"))
    source = await world.source()
    await world.sync(source)
    world.remote.change(2, description="new")
    checked.clear()
    again = await world.sync(source)
    assert (again["updated"], again["unchanged"], checked) == (1, 2, ["sw2"])
    checked.clear()
    assert ((await world.sync(source))["unchanged"], checked) == (3, [])


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"description": "here"}, id="a text"),
        pytest.param({"name": "mine"}, id="the name"),
        pytest.param({"host": "198.51.100.9"}, id="the host"),
        pytest.param({"tags": []}, id="the tags"),
        pytest.param({"metadata": {}}, id="the metadata"),
        pytest.param({"site": "Köln"}, id="the site"),
    ],
)
async def test_an_edit_here_of_what_the_inventory_decides_is_undone_once(
    world: World, checked: list[str], edit: dict[str, Any]
) -> None:
    world.remote.has(
        machine(1, "sw1", description="there", tags=("core",), metadata={"rack": 7}, site="Bonn"),
        machine(2, "sw2"),
    )
    source = await world.source()
    await world.sync(source)
    before = (await world.node.all())["sw1"]
    path = f"/api/devices/{before.id}"
    assert (await world.api.put(path, edit)).status == 200
    checked.clear()
    assert ((await world.sync(source))["updated"], checked) == (1, ["sw1"])
    after = (await world.node.all())["sw1"]
    assert {name: getattr(after, name) for name in edit} == {name: getattr(before, name) for name in edit}
    checked.clear()
    assert ((await world.sync(source))["unchanged"], checked) == (2, [])


async def test_an_edit_that_the_inventory_lets_stand_is_looked_at_once(
    world: World, checked: list[str]
) -> None:
    world.remote.has(machine(1, "sw1", site="Bonn"))
    source = await world.source()
    await world.sync(source)
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    site = (await world.api.post("/api/sites", {"name": "Köln"})).json
    assert (await world.api.put(path, {"tags": ["mine"], "site_id": site["id"]})).status == 200
    for looked_at in (["sw1"], []):
        checked.clear()
        assert ((await world.sync(source))["unchanged"], checked) == (1, looked_at)
    # Its own site again: the rename of the managed one and the way back are both seen.
    assert (await world.api.put(f"/api/sites/{site['id']}", {"name": "Trier"})).status == 200
    assert (await world.api.put(path, {"site_id": None})).status == 200
    assert (await world.sync(source))["updated"] == 1
    assert (await world.node.all())["sw1"].site == "Bonn"


async def test_an_edit_while_the_device_is_written_is_not_taken_for_unchanged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1", description="there"))
    source = await world.source()
    await world.sync(source)
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    world.remote.change(1, host="198.51.100.9")
    with monkeypatch.context() as patched:
        after_the_plan(patched, lambda: world.api.put(path, {"description": "here"}))
        assert (await world.sync(source))["updated"] == 1
    await world.sync(source)
    after = (await world.api.get(path)).json
    assert (after["host"], after["description"]) == ("198.51.100.9", "there")


async def test_of_two_inventories_none_takes_the_others_device_for_unchanged(world: World) -> None:
    world.remote.has(machine(1, "sw1", description="one"))
    first, second = await world.source(), await world.source(name="second")
    await world.sync(first)
    world.remote.change(1, description="two")
    for source, said in ((second, "two"), (first, "one"), (second, "two"), (first, "one")):
        world.remote.change(1, description=said)
        assert (await world.sync(source))["updated"] == 1
        assert (await world.node.all())["sw1"].description == said


async def test_unchanged_devices_count_where_too_many_would_go(world: World) -> None:
    world.remote.has(*(machine(number, f"sw{number}") for number in range(1, 22)))
    source = await world.source()
    await world.sync(source)
    world.remote.drop(*range(1, 10))
    assert (await world.sync(source))["removed"] == 9


async def test_an_unchanged_device_keeps_its_name(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    world.remote.has(machine(1, "sw1"), machine(2, "sw1"))
    result = await world.sync(source)
    assert (result["unchanged"], result["failed"]) == (1, 1)
    assert "another device of the inventory has the same name" in result["errors"][0]["error"]


def test_a_digest_is_of_everything_that_is_said_and_of_who_says_it() -> None:
    bound, other = BoundDevices("source:1", {}), BoundDevices("source:2", {})
    device = machine(1, "sw1", tags=("a",), metadata={"x": 1})
    changes: list[dict[str, Any]] = [
        {"name": "sw2"},
        {"host": "192.0.2.9"},
        {"tags": ("a", "b")},
        {"tags": ("a, b",)},
        {"metadata": {"x": "1"}},
        {"metadata": {"x": True}},
        {"site": "x"},
        {"model": "x"},
        {"device_type": "linux"},
        {"inventory_id": None},
        {"name": "\ud800"},
    ]
    digests = [
        bound.digest(machine(1, **{"name": "sw1", "tags": ("a",), "metadata": {"x": 1}, **change}))
        for change in changes
    ]
    assert len({*digests, bound.digest(device), other.digest(device)}) == len(changes) + 2
    assert bound.digest(machine(1, "sw1", metadata={"x": 1}, tags=("a",))) == bound.digest(device)


def test_a_description_without_end_is_never_unchanged() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    known = BoundDevice(id="d", name="sw1", external_id="1", brought=True, digest=None)
    bound = BoundDevices("source:1", {"1": known})
    assert not bound.is_unchanged("1", bound.digest(machine(1, "sw1", metadata={"x": deep})))
