"""The totals of device lists: right after every answered write, counted once, bounded in age and number."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records import kept_counts
from netautod.network.devices.records.counts import REVISIONS, DeviceCounts
from netautod.network.devices.records.queries import COLLECTION
from netautod.network.devices.service import DeviceService
from netautod.store.client import Database
from netautod.store.scoped import scoped
from tests.network.devices.inventory import ABSENT_ID, Inventory
from tests.support.client import assert_error
from tests.support.profiler import profiled

ALL = DeviceFilter()
FILTERS = {
    "all": ALL,
    "linux": DeviceFilter(device_type="linux"),
    "Bonn": DeviceFilter(site="Bonn"),
    "Ulm": DeviceFilter(site="Ulm"),
    "blue": DeviceFilter(tag="blue"),
    "edge": DeviceFilter(q="edge"),
}
Write = Callable[[Inventory, dict[str, Any]], Awaitable[object]]


async def _totals(devices: DeviceService, org_id: OrgId) -> dict[str, int]:
    """With pages of one item, so that no page is short and gives the total away."""
    page = Page(limit=1)
    return {name: (await devices.page(org_id, narrowed, page)).total for name, narrowed in FILTERS.items()}


async def _three(inventory: Inventory) -> dict[str, Any]:
    """Two of them match everything but Ulm; answers the first of them."""
    site = await inventory.site("Bonn")
    every = {"site_id": site["id"], "tags": ["blue"], "device_type": "linux"}
    first = await inventory.device(name="edge-1", **every)
    await inventory.device(name="edge-2", **every)
    await inventory.device(name="core-1", site="Ulm")
    return {**first, "site_id": site["id"]}


async def _create(inventory: Inventory, first: dict[str, Any]) -> None:
    await inventory.device(name="new")


async def _create_and_take_back(inventory: Inventory, first: dict[str, Any]) -> None:
    body = {**first, "name": "edge-9", "site_id": ABSENT_ID}
    assert_error(await inventory.api.post("/api/devices", body), 400, "site_id")


async def _delete(inventory: Inventory, first: dict[str, Any]) -> None:
    assert (await inventory.api.delete(f"/api/devices/{first['id']}")).status == 204


async def _rename_site(inventory: Inventory, first: dict[str, Any]) -> None:
    assert (await inventory.api.put(f"/api/sites/{first['site_id']}", {"name": "Ulm"})).status == 200


def _update(**change: Any) -> Write:
    async def update(inventory: Inventory, first: dict[str, Any]) -> None:
        assert (await inventory.api.put(f"/api/devices/{first['id']}", change)).status == 200

    return update


@pytest.mark.parametrize(
    ("write", "changes"),
    [
        pytest.param(_create, {"all": 4}, id="create"),
        pytest.param(_create_and_take_back, {}, id="a create that is refused"),
        pytest.param(_delete, {"all": 2, "linux": 1, "Bonn": 1, "blue": 1, "edge": 1}, id="delete"),
        pytest.param(_rename_site, {"Bonn": 0, "Ulm": 3}, id="the rename of a site"),
        pytest.param(_update(device_type="cisco_ios"), {"linux": 1}, id="update of device_type"),
        pytest.param(_update(site="Ulm"), {"Bonn": 1, "Ulm": 2}, id="update of site"),
        pytest.param(_update(tags=[]), {"blue": 1}, id="update of tags"),
        pytest.param(_update(name="x"), {"edge": 1}, id="update of the name"),
        pytest.param(_update(host="edge", name="x"), {}, id="update of name and host"),
        pytest.param(_update(description="x"), {}, id="update of something else"),
    ],
)
async def test_after_a_write_every_node_has_the_right_totals(
    inventory: Inventory, write: Write, changes: dict[str, int]
) -> None:
    first = await _three(inventory)
    nodes = [inventory.on_another_node().devices for _ in range(2)]
    before = {"all": 3, "linux": 2, "Bonn": 2, "Ulm": 1, "blue": 2, "edge": 2}
    assert [await _totals(node, inventory.org_id) for node in nodes] == [before, before]
    await write(inventory, first)
    after = {**before, **changes}
    assert [await _totals(node, inventory.org_id) for node in nodes] == [after, after]


@pytest.fixture
def counted(database: Database, mongo_uri: str) -> Iterator[Callable[[], int]]:
    """How many counts of devices the server has done since the last call, at first since now."""
    with profiled(database, mongo_uri) as profile:
        yield lambda: sum("aggregate" in entry["command"] for entry in profile.take(COLLECTION))


@pytest.fixture
async def devices(indexed: Database) -> Database:
    return indexed


async def _insert(database: Database, org_id: OrgId, number: int) -> None:
    """As a writer does that dies before it says so."""
    await scoped(database, COLLECTION).insert_many(
        org_id,
        [
            {"_id": made, "name": made, "live": True, "site": "Bonn"}
            for made in (str(uuid4()) for _ in range(number))
        ],
    )


async def test_pages_are_counted_once_and_short_ones_never(
    inventory: Inventory, counted: Callable[[], int]
) -> None:
    for number in range(5):
        await inventory.device(name=f"device-{number}")
    for offset in (0, 2, 0, 2):
        page = (await inventory.api.get(f"/api/devices?limit=2&offset={offset}")).json
        assert (len(page["devices"]), page["total"]) == (2, 5)
    assert counted() == 1
    await inventory.device(name="another")
    for query, total in (("limit=100", 6), ("limit=2&offset=5", 6), ("site=Bonn", 0), ("q=another", 1)):
        assert (await inventory.api.get(f"/api/devices?{query}")).json["total"] == total
    assert counted() == 0
    beyond = (await inventory.api.get("/api/devices?limit=2&offset=6")).json
    assert (beyond["devices"], beyond["total"], counted()) == ([], 6, 1)


async def test_many_lists_at_once_share_a_count(devices: Database, counted: Callable[[], int]) -> None:
    org_id, kept = OrgId(str(uuid4())), DeviceCounts(devices)
    await _insert(devices, org_id, 3)
    assert await asyncio.gather(*(kept.total(org_id, ALL) for _ in range(20))) == [3] * 20
    assert counted() == 1


async def test_a_count_that_began_before_a_write_does_not_serve_a_list_after_it(devices: Database) -> None:
    org_id, kept = OrgId(str(uuid4())), DeviceCounts(devices)
    for expected in range(1, 21):
        early = asyncio.create_task(kept.total(org_id, ALL))
        await _insert(devices, org_id, 1)
        await kept.changed(org_id)
        assert await kept.total(org_id, ALL) == expected
        assert await early in (expected - 1, expected)
        assert await kept.total(org_id, ALL) == expected


async def test_a_writer_that_died_before_the_new_revision_is_noticed_when_the_total_is_old(
    devices: Database,
) -> None:
    now = 1000.0
    org_id, kept = OrgId(str(uuid4())), DeviceCounts(devices, monotonic=lambda: now)
    await _insert(devices, org_id, 1)
    assert await kept.total(org_id, ALL) == 1
    await _insert(devices, org_id, 1)
    now += kept_counts.SECONDS
    assert await kept.total(org_id, ALL) == 1
    now += 0.1
    assert await kept.total(org_id, ALL) == 2


async def test_organizations_and_filters_have_totals_of_their_own(devices: Database) -> None:
    ours, theirs, kept = OrgId(str(uuid4())), OrgId(str(uuid4())), DeviceCounts(devices)
    await _insert(devices, ours, 2)
    await _insert(devices, theirs, 3)
    await kept.changed(ours)
    for narrowed in (ALL, replace(ALL, site="Bonn"), replace(ALL, site="Ulm")):
        expected = (0, 0) if narrowed.site == "Ulm" else (2, 3)
        assert (await kept.total(ours, narrowed), await kept.total(theirs, narrowed)) == expected


async def test_the_totals_that_nobody_asked_for_longest_are_forgotten(
    devices: Database, counted: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_counts, "MOST", 2)
    org_id, kept = OrgId(str(uuid4())), DeviceCounts(devices)
    for sites, expected in (("ab", 2), ("ab", 0), ("ac", 1), ("a", 0), ("b", 1)):
        for site in sites:
            await kept.total(org_id, DeviceFilter(site=site))
        assert (sites, counted()) == (sites, expected)


async def test_first_changes_at_once_are_all_noted(devices: Database) -> None:
    org_id, kept = OrgId(str(uuid4())), DeviceCounts(devices)
    await asyncio.gather(*(kept.changed(org_id) for _ in range(40)))
    found = await devices.collection(REVISIONS).find({})
    assert found == [{"_id": org_id, "revision": 40}]
