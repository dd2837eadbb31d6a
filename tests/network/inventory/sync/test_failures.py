"""Synchronisations and tests that fail, wholly or for some devices: what is answered, kept and left alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from netautod.core.identity.caller import Caller
from netautod.network.devices.bindings.models import DeviceWrite
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.inventory.sync.recorder import ENDED_UNSEEN
from netautod.plugin_api import InventoryFailed, RemoteProblem
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from tests.network.inventory.sync.fake_inventory import TOKEN, URL, FakeSource, machine
from tests.network.inventory.sync.world import AD_HOC, SOURCES, World, counts, worlds
from tests.support.client import assert_error
from tests.support.serving import Serve

BODY = {"inventory_url": URL, "token": TOKEN}


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
        pytest.param(SystemExit(1), "its plugin failed", id="the plugin exits"),
        pytest.param(asyncio.CancelledError(), "its plugin failed", id="the plugin cancels itself"),
        pytest.param(AddressRefused("a loopback address"), "a loopback address", id="DNS was changed"),
    ],
)
async def test_an_inventory_that_fails_is_502_and_history(
    world: World, failing: str, failure: BaseException, text: str, caplog: pytest.LogCaptureFixture
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
    async with worlds(world.database, world.settings.data_dir, **own) as made:
        there = await made(serve)
        assert (await there.api.post(AD_HOC, BODY)).status == 200
        assert there.remote.accesses[0].device_types == {"ios-xe": "cisco_xe", "eos": "arista_eos"}


async def test_an_inventory_that_keeps_silent_is_not_waited_for(
    world: World, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: Any) -> None:
        await asyncio.Event().wait()

    limits = {"test_seconds": 0.2}
    async with worlds(world.database, world.settings.data_dir, **limits) as made:
        hasty = await made(serve)
        monkeypatch.setattr(FakeSource, "probe", silent)
        text = "no complete answer within 0.2 seconds"
        assert_error(await hasty.api.post(AD_HOC, BODY), 502, text)
        assert (await hasty.api.post(f"{AD_HOC}/test", BODY)).json["message"] == text
        monkeypatch.setattr("netautod.network.inventory.sync.reader.ANSWER_SECONDS", 0.1)
        source = await hasty.source()
        text = "no complete answer within 0.1 seconds"
        for path in (f"{AD_HOC}/test", f"{SOURCES}/{source['id']}/test"):
            body = BODY if path.startswith(AD_HOC) else None
            assert (await hasty.api.post(path, body)).json["message"] == text


async def test_too_many_devices_and_too_much_time_end_a_sync(world: World, serve: Serve) -> None:
    limits = {"max_devices": 3, "sync_seconds": 1.0}
    async with worlds(world.database, world.settings.data_dir, **limits) as small_one:
        small = await small_one(serve)
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


async def test_a_device_that_others_change_all_the_time_is_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    await world.sync(source)
    tries = 0

    async def refused(self: SyncedDevices, caller: Caller, writes: Sequence[DeviceWrite]) -> set[str]:
        nonlocal tries
        tries += 1
        return {write.before.id for write in writes}

    monkeypatch.setattr(SyncedDevices, "write", refused)
    world.remote.change(2, description="new")
    result = await world.sync(source)
    assert counts(result) == (0, 0, 1, 1, 0)
    busy = "the device is being changed by others at this moment"
    assert result["errors"] == [{"inventory_id": 2, "name": "sw2", "error": busy}]
    assert tries == 4


async def test_a_sync_that_nobody_saw_ending_has_lasted_until_it_was_noticed(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    begun = world.node.installation.clock.now() - timedelta(hours=1)
    left = {"open": True, "completed_at": None, "success": None, "error": None, "started_at": begun}
    await world.database.collection("sync_history").update({"source_id": source["id"]}, {"$set": left})
    await world.sync(source)
    _, unseen = await world.history()
    assert (unseen["success"], unseen["error"], counts(unseen)) == (False, ENDED_UNSEEN, (0, 0, 0, 0, 0))
    ended = datetime.fromisoformat(unseen["completed_at"])
    assert abs(timedelta(milliseconds=unseen["duration_ms"]) - (ended - begun)) < timedelta(seconds=1)
    assert unseen["duration_ms"] >= 3_600_000
