"""Saved sources: what they take and answer, whose they are, where their token goes, how they end."""

from typing import Any

import pytest

from netautod.assembly.data.stores import SEALED_FIELDS
from netautod.network.inventory.filters import merged
from netautod.secrets.vault.rewrapping import rewrap
from netautod.store.scoped import scoped
from tests.network.devices.inventory import ABSENT_ID
from tests.network.inventory.sync.fake_inventory import TOKEN, URL, machine
from tests.network.inventory.sync.world import AD_HOC, HISTORY, SOURCES, World
from tests.support.client import assert_error

BODY = {"name": "netbox", "url": URL, "token": TOKEN}
FIELDS = {
    "id",
    "org_id",
    "name",
    "url",
    "verify_ssl",
    "device_filters",
    "auto_sync_enabled",
    "sync_interval_hours",
    "has_token",
    "last_sync_at",
    "last_sync_status",
    "last_sync_result",
    "next_sync_at",
    "created_at",
    "updated_at",
}


async def test_a_source_is_made_read_listed_changed_and_deleted(world: World) -> None:
    made = await world.source(url=f"{URL}/netbox/", device_filters={"site": "bonn", "tags": ["a", "a"]})
    assert set(made) == FIELDS
    assert (made["url"], made["device_filters"]) == (f"{URL}/netbox", {"sites": ["bonn"], "tags": ["a"]})
    assert (made["verify_ssl"], made["auto_sync_enabled"], made["sync_interval_hours"]) == (True, False, 24)
    assert (made["has_token"], made["next_sync_at"], made["last_sync_status"]) == (True, None, None)
    path = f"{SOURCES}/{made['id']}"
    assert (await world.api.get(path)).json == made
    other = await world.source(name="another")
    assert (await world.api.get(SOURCES)).json == {"sources": [other, made]}
    # A client may send back what it read.
    changed = (await world.api.put(path, {**made, "name": " lab ", "device_filters": {}})).json
    assert (changed["name"], changed["device_filters"]) == ("lab", {})
    assert_error(await world.api.put(path, {"name": "another"}), 409, "already exists")
    deleted = await world.api.delete(path)
    assert (deleted.status, list(deleted.json)) == (200, ["message"])
    assert (await world.api.get(path)).status == 404
    assert (await world.api.delete(path)).status == 404
    verbs = [len(await world.audited(f"inventory_source.{verb}")) for verb in ("create", "update", "delete")]
    assert verbs == [2, 1, 1]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"name": None}, "name", id="no name"),
        pytest.param({"url": None}, "url", id="no url"),
        pytest.param({"token": None}, "token", id="no token"),
        pytest.param({"name": {"$ne": ""}}, "name", id="an operator for a name"),
        pytest.param({"url": {"$ne": ""}}, "url", id="an operator for a url"),
        pytest.param({"token": {"$ne": ""}}, "token", id="an operator for a token"),
        pytest.param({"token": "a\r\nX-Evil: 1"}, "token", id="a header in the token"),
        pytest.param({"token": " "}, "token", id="a blank token"),
        pytest.param({"url": "netbox.example"}, "url", id="a url without a scheme"),
        pytest.param({"url": "file:///etc/passwd"}, "url", id="a file"),
        pytest.param({"url": f"{URL}/?token=x"}, "url", id="a query in the url"),
        pytest.param({"url": "http://127.0.0.1:8000"}, "url: ", id="a loopback address"),
        pytest.param({"url": "http://169.254.169.254/latest"}, "url: ", id="cloud metadata"),
        pytest.param({"verify_ssl": "yes"}, "verify_ssl", id="a text for true"),
        pytest.param({"auto_sync_enabled": 1}, "auto_sync_enabled", id="one for true"),
        pytest.param({"sync_interval_hours": 0}, "sync_interval_hours", id="no interval"),
        pytest.param({"sync_interval_hours": 1.5}, "sync_interval_hours", id="half an hour"),
        pytest.param({"device_filters": []}, "device_filters", id="an array of filters"),
        pytest.param(
            {"device_filters": {"bananas": ["x"]}}, "device_filters.bananas", id="an unknown filter"
        ),
        pytest.param({"device_filters": {"sites": "x"}}, "device_filters.sites", id="no array of sites"),
        pytest.param({"device_filters": {"sites": [{"$ne": 1}]}}, "device_filters.sites", id="an operator"),
        pytest.param(
            {"device_filters": {"site": ["x"]}}, "device_filters.site", id="an array of legacy sites"
        ),
        pytest.param(
            {"device_filters": {"$where": "1"}}, "device_filters.$where", id="an operator for a key"
        ),
        pytest.param({"bananas": 1}, "bananas", id="an unknown field"),
    ],
)
async def test_what_a_source_does_not_take_names_the_field(
    world: World, fields: dict[str, Any], text: str
) -> None:
    assert_error(await world.api.post(SOURCES, {**BODY, **fields}), 400, text)
    if None not in fields.values():
        path = f"{SOURCES}/{(await world.source())['id']}"
        assert_error(await world.api.put(path, fields), 400, text)
    assert len((await world.api.get(SOURCES)).json["sources"]) == (None not in fields.values())


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"sites": []}, {}, id="an empty array narrows nothing"),
        pytest.param({"sites": None, "name": None, "site": ""}, {}, id="nor do null and the empty text"),
        pytest.param({"site": "a", "sites": ["b", "a"]}, {"sites": ["a", "b"]}, id="legacy site first"),
        pytest.param({"sites": ["b", "a"], "site": "a"}, {"sites": ["b", "a"]}, id="legacy site last"),
        pytest.param({"role": "r", "name": " core "}, {"roles": ["r"], "name": "core"}, id="role and name"),
    ],
)
def test_filters_have_one_form(sent: dict[str, Any], kept: dict[str, Any]) -> None:
    assert merged(sent) == (kept, {})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/sync", {"confirm_removals": "yes"}, id="a text for true"),
        pytest.param("/sync", {"dry_run": True}, id="dry_run in the body"),
        pytest.param("/sync?dry_run=maybe", {}, id="dry_run that is neither"),
        pytest.param("/test", {"token": "x"}, id="a token for the test"),
    ],
)
async def test_what_a_sync_does_not_take(world: World, path: str, body: dict[str, Any]) -> None:
    source = await world.source()
    assert (await world.api.post(f"{SOURCES}/{source['id']}{path}", body)).status == 400


async def test_the_token_is_in_no_answer_and_sealed(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    path = f"{SOURCES}/{source['id']}"
    for response in (
        await world.api.get(path),
        await world.api.get(SOURCES),
        await world.api.post(f"{path}/test"),
        await world.api.get(HISTORY),
    ):
        assert TOKEN.encode() not in response.content
    assert TOKEN not in await world.text()
    assert [access.token for access in world.remote.accesses] == [TOKEN, TOKEN]
    assert {access.org_id for access in world.remote.accesses} == {source["org_id"]}
    assert TOKEN not in repr(world.remote.accesses)


async def test_the_token_survives_a_rotation_of_keys(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.node.installation.vault.rotate_organization_key(world.org_id)
    result = await rewrap(world.node.installation.vault, world.database, SEALED_FIELDS)
    assert (result.rewrapped >= 1, result.failed) == (True, 0)
    assert (await world.sync(source))["added"] == 1


async def test_a_url_on_another_server_needs_the_token_again(world: World) -> None:
    source = await world.source()
    path = f"{SOURCES}/{source['id']}"
    elsewhere = "http://192.0.2.81"
    for url in (elsewhere, "https://192.0.2.80", f"{URL}:8080"):
        assert_error(await world.api.put(path, {"url": url}), 400, "token: a url on another server")
    assert_error(await world.api.put(path, {"url": elsewhere, "token": None}), 400, "token")
    assert (await world.api.get(path)).json["url"] == URL
    assert (await world.api.put(path, {"url": f"{URL}/netbox"})).status == 200
    assert (await world.api.put(path, {"url": elsewhere, "token": "new-token"})).status == 200
    await world.api.post(f"{path}/test")
    access = world.remote.accesses[-1]
    assert (access.url, access.token) == (elsewhere, "new-token")


async def test_to_verify_no_certificate_needs_the_token_again(world: World) -> None:
    source = await world.source()
    path = f"{SOURCES}/{source['id']}"
    for body in ({"verify_ssl": False}, {**source, "verify_ssl": False}):
        assert_error(await world.api.put(path, body), 400, "token: to turn verify_ssl off")
    assert (await world.api.get(path)).json["verify_ssl"] is True
    assert (await world.api.put(path, {"verify_ssl": False, "token": TOKEN})).json["verify_ssl"] is False
    # What is off stays off without it, and is turned on by anybody who may manage sources.
    assert (await world.api.put(path, {"name": "b", "verify_ssl": False})).status == 200
    assert (await world.api.put(path, {"verify_ssl": True})).json["verify_ssl"] is True


async def test_a_deleted_source_leaves_its_devices_behind(world: World) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "gone"))
    source = await world.source()
    other = await world.source(name="other")
    await world.sync(source)
    world.remote.drop(2)
    await world.sync(source)
    assert (await world.api.delete(f"{SOURCES}/{source['id']}")).status == 200
    device = (await world.node.all())["sw1"]
    assert device.inventory_id is None
    (document,) = await scoped(world.database, "devices").find(world.org_id, {"live": True})
    assert document["bindings"] == []
    # Nobody is bound to it any more, so nobody comes back or is removed by its successor.
    world.remote.has(machine(2, "gone"), machine(1, "sw1"))
    again = await world.sync(other)
    assert (again["added"], again["updated"]) == (1, 1)
    assert (await world.node.all())["sw1"].id == device.id
    world.remote.has()
    assert (await world.sync(other, {"confirm_removals": True}))["removed"] == 1
    assert await world.names() == ["sw1"]
    kept = (await world.api.get(f"{HISTORY}?source_id={source['id']}")).json
    assert [entry["source_name"] for entry in kept["history"]] == ["netbox", "netbox"]


async def test_the_history_keeps_the_newest_of_each_source(world: World) -> None:
    first, second = await world.source(), await world.source(name="second")
    for _ in range(7):
        await world.sync(first)
    await world.sync(second)
    for _ in range(6):
        await world.api.post(AD_HOC, {"inventory_url": URL, "token": TOKEN})
    pages = [(await world.api.get(f"{HISTORY}?limit=6&offset={offset}")).json for offset in (0, 6)]
    assert [(page["total"], page["limit"], page["offset"]) for page in pages] == [(11, 6, 0), (11, 6, 6)]
    shown = [entry["source_name"] for page in pages for entry in page["history"]]
    assert shown == [None] * 5 + ["second"] + ["netbox"] * 5
    starts = [entry["started_at"] for page in pages for entry in page["history"]]
    assert starts == sorted(starts, reverse=True)
    for source in (first, second):
        assert (await world.api.delete(f"{SOURCES}/{source['id']}")).status == 200
    # Those of deleted sources share one shelf.
    assert (await world.api.get(HISTORY)).json["total"] == 10


@pytest.mark.parametrize("query", ["limit=0", "offset=-1", "source_id=7"])
async def test_a_wrong_query_of_the_history_is_400(world: World, query: str) -> None:
    assert (await world.api.get(f"{HISTORY}?{query}")).status == 400


async def test_a_source_of_another_organization_is_not_there(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    stranger, path = world.elsewhere(), f"{SOURCES}/{source['id']}"
    for response in (
        await stranger.get(path),
        await stranger.put(path, {"name": "mine"}),
        await stranger.delete(path),
        await stranger.post(f"{path}/sync"),
        await stranger.post(f"{path}/sync?dry_run=true"),
        await stranger.post(f"{path}/test"),
    ):
        assert_error(response, 404, "Inventory source not found")
    missing = await world.api.post(f"{SOURCES}/{ABSENT_ID}/sync")
    assert_error(missing, 404, "Inventory source not found")
    assert (await stranger.get(SOURCES)).json == {"sources": []}
    assert (await stranger.get(f"{HISTORY}?source_id={source['id']}")).json["history"] == []
    # The same inventory brings the stranger devices of their own.
    theirs = await stranger.post(AD_HOC, {"inventory_url": URL, "token": TOKEN})
    assert theirs.json["added"] == 1
    assert (await world.sync(source))["unchanged"] == 1


async def test_readers_read_and_managers_write(world: World) -> None:
    source = await world.source()
    reader, nobody = world.with_permissions("devices.access"), world.with_permissions("tasks.operate")
    path = f"{SOURCES}/{source['id']}"
    for read in (SOURCES, path, HISTORY):
        assert (await reader.get(read)).status == 200
        assert (await nobody.get(read)).status == 403
    for response in (
        await reader.post(SOURCES, BODY),
        await reader.put(path, {}),
        await reader.delete(path),
        await reader.post(f"{path}/sync"),
        await reader.post(f"{path}/test"),
        await reader.post(AD_HOC, {}),
        await reader.post(f"{AD_HOC}/test", {}),
    ):
        assert response.status == 403
