"""Synchronisations as the API does them: what they bring, change, remove, leave alone and tell."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.network.devices.bindings.store import BindingStore
from netautod.network.inventory.sync import run
from netautod.plugin_api import RemoteProblem
from netautod.store.scoped import scoped
from tests.network.inventory.sync.fake_inventory import TOKEN, URL, machine
from tests.network.inventory.sync.world import AD_HOC, SOURCES, World, counts

BODY = {"inventory_url": URL, "token": TOKEN}


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
    assert counts(await world.sync(source, {"confirm_removals": True})) == (0, 0, 0, 0, 3)


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


async def test_the_totals_of_lists_follow_every_sync_at_once(world: World) -> None:
    """Of lists that are longer than their page: a node keeps those totals until it is told of a write."""
    source = await world.source()
    always = [machine(number, f"sw{number}") for number in (1, 2)]
    for there, total in (
        ([], 2),
        ([machine(3, "sw3"), machine(4, "sw4")], 4),
        ([machine(3, "core"), machine(4, "sw4")], 3),
        ([machine(3, "core")], 2),
        ([machine(3, "core"), machine(4, "sw4")], 3),
    ):
        world.remote.has(*always, *there)
        await world.sync(source)
        assert (await world.api.get("/api/devices?q=sw&limit=1")).json["total"] == total


async def test_new_devices_are_written_in_a_few_batches_at_a_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "NEW", 1)
    writing, most, go_on = 0, asyncio.Semaphore(0), asyncio.Event()
    real = BindingStore.insert

    async def held(self: BindingStore, *args: Any, **options: Any) -> Any:
        nonlocal writing
        writing += 1
        most.release()
        await go_on.wait()
        return await real(self, *args, **options)

    monkeypatch.setattr(BindingStore, "insert", held)
    world.remote.has(*(machine(number, f"sw{number}") for number in range(10)))
    source = await world.source()
    syncing = asyncio.create_task(world.sync(source))
    for _ in range(run.AT_ONCE):
        await asyncio.wait_for(most.acquire(), 10)
    for _ in range(100):  # as many turns as further batches would need
        await asyncio.sleep(0)
    assert writing == 3
    go_on.set()
    assert counts(await syncing) == (10, 0, 0, 0, 0)


async def test_every_count_is_told_the_same_everywhere(world: World) -> None:
    world.remote.has(*(machine(number, f"sw{number}") for number in range(1, 11)))
    source = await world.source()
    await world.sync(source)
    world.remote.drop(1, 2, 3, 4, 5)
    for number in (6, 7):
        world.remote.change(number, description="new")
    world.remote.devices.append(machine(11, "sw11"))
    world.remote.problems = [
        RemoteProblem(external_id=str(number), inventory_id=number, name=None, error="no name")
        for number in range(20, 24)
    ]
    numbers = {"added": 1, "updated": 2, "unchanged": 3, "failed": 4, "removed": 5}
    preview = await world.sync(source, query="?dry_run=true")
    result = await world.sync(source)
    told = {name: result[name] for name in (*numbers, "errors", "duration_ms")}
    entry = (await world.history())[0]
    kept = (await world.api.get(f"{SOURCES}/{source['id']}")).json["last_sync_result"]
    by_preview, by_sync = (await world.audited("inventory.sync"))[-2:]
    for found in (preview, result, entry, kept, by_preview, by_sync):
        assert {name: found[name] for name in numbers} == numbers
    assert {name: entry[name] for name in told} == kept == told
    about = {"inventory_url": URL, "triggered_by": "manual", **numbers}
    assert (by_preview, by_sync) == ({**about, "dry_run": True}, about)


@pytest.mark.parametrize(
    ("there", "gone", "guarded"),
    [
        pytest.param(12, 11, True, id="nearly all"),
        pytest.param(12, 7, True, id="over half"),
        pytest.param(12, 6, False, id="half"),
        pytest.param(11, 6, True, id="over half of eleven"),
        pytest.param(10, 10, True, id="all of ten"),
        pytest.param(2, 1, False, id="one of two"),
        pytest.param(1, 1, True, id="the only one"),
    ],
)
async def test_over_half_of_the_devices_go_only_with_a_confirmation(
    world: World, there: int, gone: int, guarded: bool
) -> None:
    world.remote.has(*(machine(number, f"sw{number}") for number in range(there)))
    source = await world.source()
    await world.sync(source)
    world.remote.has(*(machine(number, f"sw{number}") for number in range(gone, there)))
    kept = there - gone
    if guarded:
        refused = await world.sync(source)
        assert counts(refused) == (0, 0, kept, 0, 0)
        (error,) = refused["errors"]
        assert error == {
            "inventory_id": None,
            "name": None,
            "error": f"not removed: {gone} of the {there} devices of this source are missing in the"
            f" inventory{'' if kept else ', whose answer is empty'}; send confirm_removals to remove them",
        }
        assert (await world.sync(source, query="?dry_run=true"))["errors"] == [error]
    body = {"confirm_removals": True} if guarded else {}
    preview = await world.sync(source, body, "?dry_run=true")
    assert (counts(preview), len(preview["plan"]["remove"])) == ((0, 0, kept, 0, gone), gone)
    assert await world.node.total() == there
    assert counts(await world.sync(source, body)) == (0, 0, kept, 0, gone)
    assert await world.node.total() == kept


async def test_a_device_comes_back_only_when_its_deletion_is_over(world: World) -> None:
    """What its deletion has to clean up would otherwise be cleaned up of the device that is back."""
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    cleaned: list[tuple[str, bool]] = []

    async def clean_up(org_id: OrgId, device_id: str) -> None:
        cleaned.append((device_id, await world.node.total() == 1))
        if len(cleaned) == 1:
            raise Unavailable("the database is away")

    async with world.another_node() as node:
        node.devices.devices.deleted.register(clean_up)
        device = (await node.all())["sw1"]
        world.remote.has()
        with pytest.raises(Unavailable):
            await node.sync(source["id"], confirm_removals=True)
        world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
        assert (await node.sync(source["id"])).added == 2
        assert cleaned == [(device.id, False), (device.id, False)]
        assert (await node.all())["sw1"].id == device.id
        world.remote.has(machine(2, "sw2"))
        assert (await node.sync(source["id"])).removed == 1
        world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
        assert (await node.sync(source["id"])).added == 1
        assert len(cleaned) == 3  # that deletion was over


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
        "release": [],
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
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    before = (await world.api.get(path)).expect()
    for _ in range(2):
        assert (await world.api.post(AD_HOC, BODY)).json["failed"] == 0
        assert counts(await world.sync(source)) == (0, 0, 2, 0, 0)
        assert (await world.api.get(path)).expect() == before  # `updated_at`, too: only who knows it is new
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
