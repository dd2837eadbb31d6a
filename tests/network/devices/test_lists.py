"""Lists of devices: paging, filters, and an index behind every query."""

from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from netautod.core.work.guard import no_guard
from netautod.network.devices.records.queries import COLLECTION, search_text
from netautod.network.devices.store import DeviceStore
from netautod.store.scoped import scoped
from tests.network.devices.inventory import DEVICE, Inventory
from tests.support.client import assert_error
from tests.support.profiler import profiled

ITEM_FIELDS = {
    *("id", "org_id", "name", "host", "port", "protocol", "device_type", "manufacturer", "model"),
    *("platform", "site", "site_id", "source", "tags", "default_credential_id", "snmp_credential_id"),
    *("poll_enabled", "connect_commands", "credential_state", "created_at", "updated_at"),
}


async def _fill(inventory: Inventory, count: int) -> None:
    """Many devices by a shortcut; some are in Berlin, some of another type, tagged, or from a CSV file."""
    device = await inventory.device(name="template")
    collection = scoped(inventory.database, COLLECTION)
    template = await collection.find_one(inventory.org_id, {"_id": device["id"]})
    assert template is not None
    await collection.delete(inventory.org_id, {"_id": device["id"]})
    special: dict[int, dict[str, Any]] = {
        10: {"site": "Berlin"},
        9: {"device_type": "arista_eos"},
        8: {"tags": ["lab", "edge"]},
        7: {"source": "csv"},
    }
    await collection.insert_many(
        inventory.org_id,
        [
            {
                **template,
                "_id": str(uuid4()),
                "name": f"device-{number:05}",
                "host": f"host-{number:05}.example",
                "search": search_text(f"device-{number:05}", f"host-{number:05}.example"),
                **{k: v for step, fields in special.items() if number % step == 0 for k, v in fields.items()},
            }
            for number in range(count)
        ],
    )


async def test_a_list_is_sorted_by_name_pages_and_has_exactly_the_decided_fields(
    inventory: Inventory,
) -> None:
    for name in ("b", "a", "C", "d"):
        await inventory.device(name=name)
    page = (await inventory.api.get("/api/devices?limit=2&offset=1")).json
    assert [device["name"] for device in page["devices"]] == ["a", "b"]
    assert (page["total"], page["limit"], page["offset"]) == (4, 2, 1)
    assert set(page["devices"][0]) == ITEM_FIELDS
    capped = (await inventory.api.get("/api/devices?limit=5000")).json
    assert (capped["limit"], capped["offset"], len(capped["devices"])) == (100, 0, 4)
    browsed = (await inventory.api.get("/api/devices/browse?limit=5000")).json
    assert (browsed["limit"], [item["name"] for item in browsed["items"]]) == (1000, ["C", "a", "b", "d"])
    assert (await inventory.api.get("/api/devices/browse")).json["limit"] == 50
    assert (await inventory.api.get("/api/devices?offset=9")).json["devices"] == []


@pytest.mark.parametrize("path", ["/api/devices", "/api/devices/browse"])
@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("", ["core-1", "edge-1", "lab.x"], id="no filter"),
        pytest.param("device_type=linux", ["lab.x"], id="device_type"),
        pytest.param("site=Bonn", ["edge-1", "lab.x"], id="site"),
        pytest.param("site=bonn", [], id="site in another case"),
        pytest.param("source=manual", ["core-1", "edge-1", "lab.x"], id="source"),
        pytest.param("source=csv", [], id="another source"),
        pytest.param("tag=blue", ["edge-1"], id="tag"),
        pytest.param("tag=blu", [], id="part of a tag"),
        pytest.param("q=EDGE", ["edge-1"], id="q in the name, any case"),
        pytest.param("q=0.2.", ["core-1", "edge-1", "lab.x"], id="q in the host"),
        pytest.param("q=.x", ["lab.x"], id="q is no pattern"),
        pytest.param("q=.*", [], id="q is really no pattern"),
        pytest.param("site=Bonn&device_type=cisco_ios", ["edge-1"], id="two filters"),
        pytest.param("site=&tag=&q=", ["core-1", "edge-1", "lab.x"], id="empty filters"),
        pytest.param("device_type[$ne]=linux", ["core-1", "edge-1", "lab.x"], id="unknown key"),
        pytest.param("site=" + quote('{"$ne":null}'), [], id="operator as a text"),
    ],
)
async def test_filters(inventory: Inventory, path: str, query: str, names: list[str]) -> None:
    await inventory.device(tags=["red"])
    await inventory.device(name="edge-1", site="Bonn", tags=["red", "blue"])
    await inventory.device(name="lab.x", site="Bonn", device_type="linux")
    answer = (await inventory.api.get(f"{path}?{query}")).json
    found = [device["name"] for device in answer["devices" if path.endswith("devices") else "items"]]
    assert (found, answer["total"]) == (names, len(names))


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=abc", "offset=-1", "source=netbox", "device_type=" + quote("Cisco IOS")]
)
async def test_a_bad_query_is_a_400(inventory: Inventory, query: str) -> None:
    field = query.partition("=")[0]
    assert_error(await inventory.api.get(f"/api/devices?{query}"), 400, field)
    assert_error(await inventory.api.get(f"/api/devices/browse?{query}"), 400, field)


@pytest.mark.parametrize(
    ("written", "twice", "unseen"),
    [
        pytest.param("a new one behind the page", set(), set(), id="one made behind moves nothing"),
        pytest.param("a new one in front", {99}, set(), id="one made in front: a neighbour is seen twice"),
        pytest.param("a seen one goes", set(), {100}, id="one deleted in front: a neighbour is not seen"),
        pytest.param("an unseen one goes", set(), {150}, id="one deleted behind the page is not seen itself"),
    ],
)
async def test_what_a_client_sees_that_pages_through_while_others_write(
    inventory: Inventory, written: str, twice: set[int], unseen: set[int]
) -> None:
    await _fill(inventory, 250)
    first = (await inventory.api.get("/api/devices?limit=100")).json["devices"]
    if written == "a new one behind the page":
        await inventory.device(name="zz")
    elif written == "a new one in front":
        await inventory.device(name="aa")
    else:
        gone = first[50] if written == "a seen one goes" else await _named(inventory, "device-00150")
        assert (await inventory.api.delete(f"/api/devices/{gone['id']}")).status == 204
    seen = [device["name"] for device in first]
    for offset in (100, 200):
        page = (await inventory.api.get(f"/api/devices?limit=100&offset={offset}")).json
        seen += [device["name"] for device in page["devices"]]
    counted = {number: seen.count(f"device-{number:05}") for number in range(250)}
    assert {number for number, times in counted.items() if times == 2} == twice
    assert {number for number, times in counted.items() if times == 0} == unseen
    assert max(counted.values()) <= 2
    assert page["total"] == 250 + (1 if written.startswith("a new") else -1)


async def _named(inventory: Inventory, name: str) -> Any:
    return (await inventory.api.get(f"/api/devices?q={name}")).json["devices"][0]


async def test_matching_goes_through_all_in_batches_by_id(inventory: Inventory) -> None:
    await _fill(inventory, 1_100)
    devices = inventory.services.devices
    batches = [batch async for batch in devices.matching(inventory.org_id)]
    ids = [device.id for batch in batches for device in batch]
    assert ([len(batch) for batch in batches], ids) == ([500, 500, 100], sorted(ids))
    narrowed = [batch async for batch in devices.matching(inventory.org_id, site="Berlin")]
    assert [len(batch) for batch in narrowed] == [110]
    both = devices.matching(inventory.org_id, site="Berlin", device_type="arista_eos")
    assert [len(batch) async for batch in both] == [13]


@pytest.mark.parametrize(
    ("query", "index", "read"),
    [
        pytest.param("", "live_1_name_1", 20, id="no filter"),
        pytest.param("offset=1900", "live_1_name_1", 20, id="a late page"),
        pytest.param("device_type=arista_eos", "live_1_device_type_1_name_1", 20, id="device_type"),
        pytest.param(
            "device_type=arista_eos&offset=40", "live_1_device_type_1_name_1", 20, id="page 3 of it"
        ),
        pytest.param("site=Berlin", "live_1_site_1_name_1", 20, id="site"),
        pytest.param("source=csv", "live_1_source_1_name_1", 20, id="source"),
        pytest.param("tag=edge", "live_1_tags_1_name_1", 20, id="tag"),
        pytest.param("q=EVICE-000", "live_1_search_1", 20, id="q"),
        pytest.param("q=no-such-thing", "live_1_search_1", 0, id="q that nothing matches"),
    ],
)
async def test_a_list_reads_only_what_it_shows_and_counts_in_the_index(
    inventory: Inventory, mongo_uri: str, query: str, index: str, read: int
) -> None:
    await _fill(inventory, 2_000)
    finds, counts = await _profiled(inventory, mongo_uri, f"/api/devices?limit=20&{query}")
    assert [(find["docsExamined"], find.get("hasSortStage", False)) for find in finds] == [(read, False)]
    assert [count["docsExamined"] for count in counts] == ([0] if read else [])
    assert {_index(entry) for entry in (*finds, *counts)} == {f"org_id_1_{index}"}
    # A choice that is made once is made again, by trying, for every page that is later than the first.
    assert not any(entry.get("fromMultiPlanner") for entry in (*finds, *counts))


@pytest.mark.parametrize(
    ("query", "index", "most"),
    [
        pytest.param("site=Berlin&device_type=arista_eos", "site", 200, id="site and device_type"),
        pytest.param("tag=edge&source=csv", "tags", 250, id="tag and source"),
        pytest.param("site=Berlin&q=device-01", "site", 200, id="site and q"),
    ],
)
async def test_two_filters_read_what_one_of_them_leaves_in_the_order_of_names(
    inventory: Inventory, mongo_uri: str, query: str, index: str, most: int
) -> None:
    await _fill(inventory, 2_000)
    finds, _ = await _profiled(inventory, mongo_uri, f"/api/devices?limit=20&{query}")
    assert [find.get("hasSortStage", False) for find in finds] == [False]
    assert finds[0]["docsExamined"] <= most
    assert _index(finds[0]) == f"org_id_1_live_1_{index}_1_name_1"


async def test_a_search_keeps_to_its_organization_and_needs_no_sort(
    inventory: Inventory, mongo_uri: str
) -> None:
    await _fill(inventory, 300)
    for number in range(3):
        await inventory.elsewhere().post("/api/devices", {**DEVICE, "name": f"device-x{number}"})
    finds, _ = await _profiled(inventory, mongo_uri, "/api/devices?q=device-0001&limit=100")
    found = [(f["docsExamined"], f["nreturned"], f.get("hasSortStage", False)) for f in finds]
    assert found == [(10, 10, False)]
    assert finds[0]["keysExamined"] <= 301  # one more may end the scan


@pytest.mark.parametrize(
    ("change", "query", "found"),
    [
        pytest.param({"name": "Zürich-1"}, "z\u00dcRICH", True, id="by the new name, any case of any letter"),
        pytest.param({"name": "$host"}, "$host", True, id="a name that looks like an expression"),
        pytest.param({"host": "198.51.100.7"}, "core-1", True, id="by the name after the host changed"),
        pytest.param({"host": "198.51.100.7"}, "51.100.7", True, id="by the new host"),
        pytest.param({"host": "198.51.100.7"}, "192.0.2.1", False, id="by the old host no more"),
        pytest.param({"site": "Bonn"}, "core-1192", False, id="across the border of name and host"),
    ],
)
async def test_a_search_follows_updates(
    inventory: Inventory, change: dict[str, str], query: str, found: bool
) -> None:
    device = await inventory.device()
    assert (await inventory.api.put(f"/api/devices/{device['id']}", change)).status == 200
    answer = (await inventory.api.get(f"/api/devices?q={quote(query)}")).json
    assert (answer["total"], [item["name"] for item in answer["devices"]]) == (
        (1, [change.get("name", "core-1")]) if found else (0, [])
    )


async def test_a_device_of_an_earlier_release_is_found_after_its_migration(inventory: Inventory) -> None:
    await inventory.device(name="Old-1", host="192.0.2.77")
    devices = inventory.database.collection(COLLECTION)
    await devices.update_many({}, {"$unset": {"search": ""}})
    await DeviceStore(inventory.database).make_searchable(no_guard)
    for q in ("old-1", "2.77"):
        (found,) = (await inventory.api.get(f"/api/devices?q={q}")).json["devices"]
        assert found["name"] == "Old-1"


async def test_a_search_for_users_of_a_credential_reads_only_them(
    inventory: Inventory, mongo_uri: str
) -> None:
    await _fill(inventory, 500)
    credential = await inventory.credential("ssh")
    await inventory.device(default_credential_id=credential["id"])
    finds, _ = await _profiled(inventory, mongo_uri, f"/api/credentials/{credential['id']}", "DELETE")
    assert [find["docsExamined"] for find in finds] == [1, 0, 0]


async def _profiled(
    inventory: Inventory, mongo_uri: str, path: str, method: str = "GET"
) -> tuple[list[Any], list[Any]]:
    """The server's own account of the device queries behind one request: finds and counts."""
    with profiled(inventory.database, mongo_uri) as profile:
        assert (await inventory.api.request(method, path)).status in (200, 409)
        entries = profile.take(COLLECTION)
    finds = [entry for entry in entries if "find" in entry["command"]]
    return finds, [entry for entry in entries if "aggregate" in entry["command"]]


def _index(entry: Any) -> str:
    plan = entry["planSummary"]
    assert "COLLSCAN" not in plan
    keys = plan.partition("{ ")[2].partition(" }")[0]
    return "_".join(part.strip().replace(": ", "_") for part in keys.split(","))
