"""Synchronisations as the API does them: what they bring, change, remove, leave alone and tell."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from netautod.outbound.errors import AddressRefused, RequestFailed
from netautod.plugin_api import InventoryFailed, RemoteProblem
from netautod.store.scoped import scoped
from tests.inventory.sync.fake_inventory import TOKEN, URL, FakeSource, machine
from tests.inventory.sync.world import AD_HOC, SOURCES, World, installed
from tests.support.client import assert_error
from tests.support.serving import Serve

BODY = {"inventory_url": URL, "token": TOKEN}


def counts(result: Any) -> tuple[int, int, int, int, int]:
    return tuple(result[name] for name in ("added", "updated", "unchanged", "failed", "removed"))


async def test_a_first_sync_brings_devices_and_a_second_changes_nothing(world: World) -> None:
    texts = {"description": "core", "manufacturer": "Cisco", "model": "C9300", "site": "Bonn"}
    more: dict[str, Any] = {**texts, "serial_number": "S1", "asset_tag": "A1", "platform": "ios-xe"}
    world.remote.has(
        machine(1, "sw1", tags=("core",), metadata={"rack": 7}, **more), machine(2, "sw2"), machine(3, "ä3")
    )
    source = await world.source()
    first = await world.sync(source)
    assert set(first) == {"added", "updated", "unchanged", "failed", "removed", "errors", "duration_ms"}
    assert (counts(first), first["errors"]) == ((3, 0, 0, 0, 0), [])
    (listed,) = (await world.api.get("/api/devices?q=sw1")).json["devices"]
    shown = (await world.api.get(f"/api/devices/{listed['id']}")).json
    assert {name: shown[name] for name in more} == more
    assert (shown["tags"], shown["metadata"], shown["source"]) == (["core"], {"rack": 7}, "inventory")
    assert (shown["inventory_id"], shown["port"], shown["poll_enabled"]) == (1, 22, False)
    before = await scoped(world.database, "devices").find(world.org_id, {}, sort=[("_id", 1)])
    assert counts(await world.sync(source)) == (0, 0, 3, 0, 0)
    assert await scoped(world.database, "devices").find(world.org_id, {}, sort=[("_id", 1)]) == before
    (created,) = await world.audited("device.create")
    assert created == {"source": "inventory", "count": 3, "created_at": shown["created_at"]}


async def test_what_the_inventory_does_not_know_has_the_defaults_of_a_device_made_by_hand(
    world: World,
) -> None:
    world.remote.has(machine(1, "sw1"))
    await world.sync(await world.source())
    (listed,) = (await world.api.get("/api/devices?q=sw1")).json["devices"]
    path = f"/api/devices/{listed['id']}"
    synced = (await world.api.get(path)).json
    same = {name: synced[name] for name in ("host", "device_type", "platform", "metadata")}
    by_hand = (await world.api.post("/api/devices", {"name": "by hand", **same})).json
    own = ("id", "name", "source", "inventory_id", "created_at", "updated_at")
    assert {**synced, **dict.fromkeys(own)} == {**by_hand, **dict.fromkeys(own)}
    assert (await world.api.put(path, synced)).status == 200


async def test_what_was_set_here_survives_changes_there(world: World) -> None:
    world.remote.has(machine(1, "sw1", tags=("core", "old"), description="one"))
    source = await world.source()
    await world.sync(source)
    (device,) = (await world.api.get("/api/devices")).json["devices"]
    credential = await world.api.post(
        "/api/credentials",
        {"name": "c", "credential_type": "ssh_password", "username": "u", "secret": "s3cret"},
    )
    here: dict[str, Any] = {
        "default_credential_id": credential.json["id"],
        "poll_enabled": True,
        "poll_interval_minutes": 7,
        "port": 2222,
        "connect_commands": ["terminal length 0"],
        "tags": ["core", "old", "mine"],
    }
    path = f"/api/devices/{device['id']}"
    assert (await world.api.put(path, here)).status == 200
    world.remote.change(1, name="sw1-new", tags=("core", "new"), description=None)
    assert counts(await world.sync(source)) == (0, 1, 0, 0, 0)
    after = (await world.api.get(path)).json
    assert (after["name"], after["description"]) == ("sw1-new", None)
    assert {**here, "tags": ["core", "mine", "new"]} == {name: after[name] for name in here}
    assert counts(await world.sync(source)) == (0, 0, 1, 0, 0)
    events = await world.audited("device.update")
    assert events[-1] == {
        "name": "sw1-new",
        "fields": ["description", "name", "tags"],
        "sync": "update",
    }


async def test_two_devices_swap_their_names(world: World) -> None:
    world.remote.has(machine(1, "a"), machine(2, "b"), machine(3, "c"), machine(4, "d"))
    source = await world.source()
    await world.sync(source)
    ids = {device.inventory_id: device.id for device in (await world.node.all()).values()}
    for number, name in ((1, "b"), (2, "a"), (3, "d"), (4, "e")):
        world.remote.change(number, name=name)
    result = await world.sync(source)
    assert (counts(result), result["errors"]) == ((0, 4, 0, 0, 0), [])
    now = await world.node.all()
    assert {name: device.id for name, device in now.items()} == {
        "b": ids[1],
        "a": ids[2],
        "d": ids[3],
        "e": ids[4],
    }
    assert counts(await world.sync(source)) == (0, 0, 4, 0, 0)


async def test_what_is_gone_is_removed_and_comes_back_with_its_history(world: World) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    await world.sync(source)
    first = (await world.node.all())["sw1"]
    gone: list[str] = []

    async def follow(org_id: str, device_id: str) -> None:
        gone.append(device_id)

    world.node.devices.devices.deleted.register(follow)
    world.remote.drop(1)
    assert counts(await world.sync(source)) == (0, 0, 1, 0, 1)
    assert (await world.names(), gone) == (["sw2"], [first.id])
    assert (await world.audited("device.delete")) == [{"name": "sw1", "source": "inventory"}]
    assert counts(await world.sync(source)) == (0, 0, 1, 0, 0)
    world.remote.devices.append(machine(1, "sw1-again"))
    assert counts(await world.sync(source)) == (1, 0, 1, 0, 0)
    back = (await world.node.all())["sw1-again"]
    assert (back.id, back.created_at) == (first.id, first.created_at)
    assert (await world.audited("device.revive")) == [{"name": "sw1-again", "source": "inventory"}]


async def test_a_device_deleted_here_by_hand_comes_back_while_it_is_there(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    device = (await world.node.all())["sw1"]
    assert (await world.api.delete(f"/api/devices/{device.id}")).status == 204
    assert counts(await world.sync(source)) == (1, 0, 0, 0, 0)
    assert (await world.node.all())["sw1"].id == device.id


async def test_a_device_comes_back_without_the_links_that_have_gone(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    device = (await world.node.all())["sw1"]
    secret = {"credential_type": "ssh_password", "username": "u", "secret": "s3cret"}
    gone = (await world.api.post("/api/credentials", {"name": "gone", **secret})).json
    kept = (await world.api.post("/api/credentials", {"name": "kept", **secret})).json
    jump = await world.device(name="jump", host="198.51.100.1")
    site = (await world.api.post("/api/sites", {"name": "Bonn"})).json
    links = {
        "default_credential_id": gone["id"],
        "automation_credential_id": kept["id"],
        "jump_device_id": jump["id"],
        "site_id": site["id"],
    }
    assert (await world.api.put(f"/api/devices/{device.id}", links)).status == 200
    for path in (f"devices/{device.id}", f"devices/{jump['id']}", f"credentials/{gone['id']}"):
        assert (await world.api.delete(f"/api/{path}")).status == 204
    assert (await world.api.put(f"/api/sites/{site['id']}", {"name": "Berlin"})).status == 200
    assert counts(await world.sync(source)) == (1, 0, 0, 0, 0)
    back = (await world.node.all())["sw1"]
    assert (back.default_credential_id, back.jump_device_id) == (None, None)
    assert (back.automation_credential_id, back.site_id, back.site) == (kept["id"], site["id"], "Berlin")


async def test_a_device_in_use_is_not_removed_but_a_chain_that_goes_whole_is(world: World) -> None:
    world.remote.has(machine(1, "jump"), machine(2, "behind"), machine(3, "far"))
    source = await world.source()
    await world.sync(source)
    made = await world.node.all()
    for device, via in (("behind", "jump"), ("far", "behind")):
        path = f"/api/devices/{made[device].id}"
        assert (await world.api.put(path, {"jump_device_id": made[via].id})).status == 200
    world.remote.drop(1)
    result = await world.sync(source)
    assert counts(result) == (0, 0, 2, 1, 0)
    text = "not removed: Device is in use by device behind"
    assert result["errors"] == [{"inventory_id": 1, "name": "jump", "error": text}]
    world.remote.drop(2, 3)
    assert counts(await world.sync(source)) == (0, 0, 0, 0, 3)


async def test_adopted_devices_stay_and_others_are_not_touched(world: World) -> None:
    mine = await world.device(name="sw1", host="192.0.2.1", description="mine", tags=["x"])
    other = await world.device(name="sw2", host="198.51.100.2")
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    result = await world.sync(source)
    assert counts(result) == (0, 1, 0, 1, 0)
    assert [(error["inventory_id"], error["name"]) for error in result["errors"]] == [(2, "sw2")]
    adopted = (await world.api.get(f"/api/devices/{mine['id']}")).json
    assert (adopted["description"], adopted["tags"]) == ("mine", ["x"])
    assert (adopted["source"], adopted["inventory_id"]) == ("inventory", 1)
    assert (await world.api.get(f"/api/devices/{other['id']}")).json == other
    world.remote.has()
    assert counts(await world.sync(source)) == (0, 0, 0, 0, 0)
    assert await world.names() == ["sw1", "sw2"]


async def test_an_incomplete_walk_applies_what_was_seen_and_removes_nothing(world: World) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    await world.sync(source)
    world.remote.has(machine(3, "sw3"))
    world.remote.incomplete = "two pages did not fit together"
    result = await world.sync(source)
    assert counts(result) == (1, 0, 0, 0, 0)
    whole = {"inventory_id": None, "name": None}
    assert result["errors"] == [{**whole, "error": "two pages did not fit together; nothing was removed"}]
    assert await world.names() == ["sw1", "sw2", "sw3"]
    assert (await world.api.get(f"{SOURCES}/{source['id']}")).json["last_sync_status"] == "partial"


async def test_over_half_of_the_devices_go_only_with_a_confirmation(world: World) -> None:
    world.remote.has(*(machine(number, f"sw{number}") for number in range(1, 13)))
    source = await world.source()
    await world.sync(source)
    world.remote.has(machine(1, "sw1"))
    refused = await world.sync(source)
    assert counts(refused) == (0, 0, 1, 0, 0)
    assert "confirm_removals" in refused["errors"][0]["error"]
    preview = await world.sync(source, {"confirm_removals": True}, "?dry_run=true")
    assert (counts(preview), len(preview["plan"]["remove"])) == ((0, 0, 1, 0, 11), 11)
    assert await world.node.total() == 12
    assert counts(await world.sync(source, {"confirm_removals": True})) == (0, 0, 1, 0, 11)


async def test_a_dry_run_tells_the_plan_and_changes_nothing(world: World) -> None:
    await world.device(name="adopted", host="192.0.2.3")
    world.remote.has(machine(1, "kept"), machine(2, "gone"))
    source = await world.source()
    await world.sync(source)
    devices = {name: device.id for name, device in (await world.node.all()).items()}
    world.remote.has(machine(1, "renamed"), machine(3, "adopted"), machine(4, "new"))
    world.remote.problems = [RemoteProblem(external_id="9", inventory_id=9, name=None, error="no name")]
    before = await world.text()
    result = await world.sync(source, query="?dry_run=true")
    assert counts(result) == (1, 2, 0, 1, 1)
    assert result["errors"] == [{"inventory_id": 9, "name": None, "error": "no name"}]
    assert result["plan"] == {
        "create": [{"name": "new", "inventory_id": 4}],
        "update": [{"device_id": devices["kept"], "name": "renamed", "changes": ["name"]}],
        "adopt": [
            {"device_id": devices["adopted"], "name": "adopted", "changes": ["inventory_id", "source"]}
        ],
        "revive": [],
        "remove": [{"device_id": devices["gone"], "name": "gone"}],
    }
    await scoped(world.database, "audit_events").delete_many(world.org_id, {"details.dry_run": True})
    assert await world.text() == before
    assert counts(await world.sync(source)) == (1, 2, 0, 1, 1)


async def test_an_ad_hoc_sync_knows_its_devices_again_and_removes_none(world: World) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    body = {**BODY, "filters": {"sites": ["bonn"], "role": "access"}, "verify_ssl": False}
    first = await world.api.post(AD_HOC, body)
    assert (first.status, counts(first.json)) == (200, (2, 0, 0, 0, 0))
    access = world.remote.accesses[-1]
    assert (access.url, access.verify_ssl) == (URL, False)
    assert access.filters == {"sites": ["bonn"], "roles": ["access"]}
    world.remote.has(machine(1, "renamed"))
    again = await world.api.post(AD_HOC, {**BODY, "inventory_url": f"{URL}:80/sub/"})
    assert counts(again.json) == (0, 1, 0, 0, 0)
    assert await world.names() == ["renamed", "sw2"]


async def test_a_saved_source_and_an_ad_hoc_sync_of_one_inventory_leave_each_other_in_peace(
    world: World,
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    await world.sync(source)
    for _ in range(2):
        assert (await world.api.post(AD_HOC, BODY)).json["failed"] == 0
        assert counts(await world.sync(source)) == (0, 0, 2, 0, 0)
    world.remote.change(1, name="renamed")
    assert counts((await world.api.post(AD_HOC, BODY)).json) == (0, 1, 1, 0, 0)
    assert counts(await world.sync(source)) == (0, 0, 2, 0, 0)
    world.remote.drop(2)
    assert counts(await world.sync(source)) == (0, 0, 1, 0, 1)


async def test_ids_that_are_no_numbers(world: World) -> None:
    one = replace(machine(1, "sw1"), external_id="8a1f7c52-nautobot", inventory_id=None)
    world.remote.has(one)
    source = await world.source()
    assert counts(await world.sync(source)) == (1, 0, 0, 0, 0)
    world.remote.has(replace(one, name="renamed"))
    assert counts(await world.sync(source)) == (0, 1, 0, 0, 0)
    assert (await world.node.all())["renamed"].inventory_id is None


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"name": "  "}, "name: the device has none", id="no name"),
        pytest.param({"name": None}, "name: the device has none", id="a name that is null"),
        pytest.param({"name": "x" * 256}, "name: longer than 255", id="a long name"),
        pytest.param({"name": {"$ne": 1}}, "name: not a text", id="an operator for a name"),
        pytest.param({"host": "10.0.0.1; reboot"}, "host: not a host name", id="a command for a host"),
        pytest.param({"host": ""}, "host: not a host name", id="no host"),
        pytest.param({"device_type": "Cisco IOS"}, "device_type: must", id="a type in capitals"),
        pytest.param({"description": "\x00"}, "description: NUL", id="NUL in a text"),
        pytest.param({"description": "\ud800"}, "description: the text is not", id="half a character"),
        pytest.param({"site": "x" * 256}, "site: longer", id="a long site"),
        pytest.param({"tags": tuple(map(str, range(101)))}, "tags: more than 100", id="too many tags"),
        pytest.param({"metadata": {"a": "\x00"}}, "a: NUL", id="NUL in metadata"),
        pytest.param({"metadata": {"a": "x" * 70_000}}, "metadata: larger", id="large metadata"),
        pytest.param({"metadata": {"a": object()}}, "metadata", id="metadata that is no JSON"),
        pytest.param({"inventory_id": 2**63}, "inventory_id", id="a number out of range"),
    ],
)
async def test_a_device_that_cannot_be_kept_is_an_error_and_the_others_are_not(
    world: World, fields: dict[str, Any], text: str
) -> None:
    world.remote.has(replace(machine(1, "sw1"), **fields), machine(2, "sw2"))
    result = await world.sync(await world.source())
    assert counts(result) == (1, 0, 0, 1, 0)
    (error,) = result["errors"]
    assert error["error"].startswith(text)
    assert await world.names() == ["sw2"]


async def test_many_errors_are_counted_and_shortened(world: World) -> None:
    world.remote.problems = [
        RemoteProblem(external_id=str(number), inventory_id=number, name=f"d{number}", error="no address")
        for number in range(1500)
    ]
    source = await world.source()
    result = await world.sync(source)
    assert (result["failed"], len(result["errors"])) == (1500, 1000)
    assert result["errors"][-1]["error"] == "and 501 more errors"
    (entry,) = await world.history()
    assert (entry["failed"], len(entry["errors"]), entry["success"]) == (1500, 100, True)


@pytest.mark.parametrize("failing", ["probe", "walk"])
@pytest.mark.parametrize(
    ("failure", "text"),
    [
        pytest.param(InventoryFailed("HTTP 500"), "HTTP 500", id="the inventory fails"),
        pytest.param(RequestFailed("no route", kind="connect"), "no route", id="it cannot be reached"),
        pytest.param(RuntimeError(f"bad header {TOKEN}"), "its plugin failed", id="the plugin is broken"),
        pytest.param(TimeoutError(), "its plugin failed", id="the plugin gives up"),
        pytest.param(AddressRefused("a loopback address"), "a loopback address", id="DNS was changed"),
    ],
)
async def test_an_inventory_that_fails_is_502_and_history(
    world: World, failing: str, failure: Exception, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"), machine(3, "sw3"))
    source = await world.source()
    world.remote.failure = failure
    world.remote.fails_after = 2 if failing == "walk" else None
    path = f"{SOURCES}/{source['id']}"
    assert_error(await world.api.post(f"{path}/sync"), 502, text)
    named = await world.api.post(AD_HOC, BODY)
    assert_error(named, 400 if isinstance(failure, AddressRefused) else 502, text)
    assert await world.names() == []
    ad_hoc, saved = await world.history()
    assert (saved["source_id"], saved["source_name"]) == (source["id"], "netbox")
    assert (ad_hoc["source_id"], ad_hoc["inventory_url"], ad_hoc["triggered_by"]) == (None, URL, "manual")
    for entry in (ad_hoc, saved):
        assert (entry["success"], text in entry["error"], entry["completed_at"] is None) == (
            False,
            True,
            False,
        )
    shown = (await world.api.get(path)).json
    assert (shown["last_sync_status"], shown["last_sync_at"] is None) == ("failed", False)
    assert text in shown["last_sync_result"]["errors"][0]["error"]
    assert TOKEN not in await world.text() + caplog.text
    tested = (await world.api.post(f"{path}/test")).json
    assert tested["success"] is (failing == "walk")


async def test_a_refused_token_is_not_repeated(world: World) -> None:
    wrong = "wrong-token-18"
    response = await world.api.post(AD_HOC, {**BODY, "token": wrong})
    assert_error(response, 502, "the token *** is refused")
    assert wrong not in await world.text()


async def test_no_system_that_anybody_knows(world: World) -> None:
    world.remote.known = False
    text = "no inventory system that netautod knows answers there"
    assert_error(await world.api.post(AD_HOC, BODY), 502, text)
    tested = (await world.api.post(f"{AD_HOC}/test", BODY)).json
    assert tested == {
        "success": False,
        "message": text,
        "version": None,
        "device_count": None,
        "duration_ms": tested["duration_ms"],
    }


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://127.0.0.1", "loopback"),
        ("http://[::ffff:169.254.169.254]/", "metadata"),
        ("http://2130706433", "loopback"),
        ("gopher://192.0.2.1", "inventory_url: The URL must begin with http"),
        ("http://user:pw@192.0.2.1", "inventory_url: The URL must not contain a user name"),
        ("http://192.0.2.1/?token=x", "inventory_url: Must not have a query"),
    ],
)
@pytest.mark.parametrize("path", [AD_HOC, f"{AD_HOC}/test"])
async def test_an_address_that_is_refused_is_400_and_not_asked(
    world: World, path: str, url: str, text: str
) -> None:
    assert_error(await world.api.post(path, {**BODY, "inventory_url": url}), 400, text)
    assert world.remote.accesses == []


async def test_a_test_counts_and_imports_nothing(world: World) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    for path, body in ((f"{SOURCES}/{source['id']}/test", None), (f"{AD_HOC}/test", BODY)):
        tested = (await world.api.post(path, body)).json
        assert (tested["success"], tested["version"], tested["device_count"]) == (True, "NetBox 4.2.1", 2)
    assert (await world.names(), await world.history()) == ([], [])
    assert len(await world.audited("inventory.test")) == 2


async def test_two_syncs_of_one_inventory_at_once_are_a_409(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    world.remote.held = asyncio.Event()
    path = f"{SOURCES}/{source['id']}"
    first = asyncio.create_task(world.api.post(f"{path}/sync"))
    await world.remote.walking.wait()
    assert_error(await world.api.post(f"{path}/sync"), 409, "is running")
    assert_error(await world.api.delete(path), 409, "is running")
    async with world.another_node() as other:
        refused = asyncio.create_task(other.sync(source["id"]))
        await asyncio.wait([refused])
        assert "is running" in str(refused.exception())
    (running,) = await world.history()
    assert (running["completed_at"], running["success"]) == (None, None)
    world.remote.walking.clear()
    ad_hoc = asyncio.create_task(world.api.post(AD_HOC, BODY))  # another key: it need not wait
    await world.remote.walking.wait()
    assert_error(await world.api.post(AD_HOC, BODY), 409, "is running")
    world.remote.held.set()
    assert [(await first).status, (await ad_hoc).status] == [200, 200]
    assert await world.names() == ["sw1"]
    assert counts(await world.sync(source)) == (0, 0, 1, 0, 0)


async def test_the_settings_say_which_device_type_a_platform_is(world: World, serve: Serve) -> None:
    own = {"device_types": ("ios-xe = cisco_xe", "eos=arista_eos")}
    async with installed(world.database, world.settings.data_dir, **own) as made:
        there = await made.world(serve)
        assert (await there.api.post(AD_HOC, BODY)).status == 200
        assert there.remote.accesses[0].device_types == {"ios-xe": "cisco_xe", "eos": "arista_eos"}


async def test_an_inventory_that_keeps_silent_is_not_waited_for(
    world: World, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: Any) -> None:
        await asyncio.Event().wait()

    limits = {"test_seconds": 0.2}
    async with installed(world.database, world.settings.data_dir, **limits) as made:
        hasty = await made.world(serve)
        monkeypatch.setattr(FakeSource, "probe", silent)
        text = "no complete answer within 0.2 seconds"
        assert_error(await hasty.api.post(AD_HOC, BODY), 502, text)
        assert (await hasty.api.post(f"{AD_HOC}/test", BODY)).json["message"] == text


async def test_too_many_devices_and_too_much_time_end_a_sync(world: World, serve: Serve) -> None:
    limits = {"max_devices": 3, "sync_seconds": 1.0}
    async with installed(world.database, world.settings.data_dir, **limits) as small_one:
        small = await small_one.world(serve)
        small.remote.has(*(machine(number, f"sw{number}") for number in range(1, 5)))
        assert_error(await small.api.post(AD_HOC, BODY), 502, "more than 3 devices")
        small.remote.has(machine(1, "sw1"))
        small.remote.held = asyncio.Event()  # never set
        assert_error(await small.api.post(AD_HOC, BODY), 502, "took longer than 1 seconds")
        assert [entry["success"] for entry in await small.history()] == [False, False]
        small.remote.held = None
        assert (await small.api.post(AD_HOC, BODY)).json["added"] == 1


@pytest.mark.parametrize(
    "unnamed",
    [
        pytest.param({"devices": [replace(machine(1, "sw1"), external_id=1)]}, id="a device"),  # type: ignore[arg-type]
        pytest.param(
            {"problems": [RemoteProblem(external_id=1, inventory_id=1, name="sw1", error="x")]},  # type: ignore[arg-type]
            id="a device that cannot be imported",
        ),
        pytest.param({"devices": [replace(machine(1, "sw1"), external_id="")]}, id="a device without an id"),
    ],
)
async def test_nothing_is_removed_when_a_plugin_gives_an_id_that_is_no_text(
    world: World, unnamed: dict[str, Any]
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    await world.sync(source)
    world.remote.has(machine(2, "sw2"))
    world.remote.devices += unnamed.get("devices", [])
    world.remote.problems = unnamed.get("problems", [])
    result = await world.sync(source)
    assert (result["removed"], await world.names()) == (0, ["sw1", "sw2"])
    assert any("nothing was removed" in error["error"] for error in result["errors"])
