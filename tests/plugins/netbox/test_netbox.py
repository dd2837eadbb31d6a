"""The source `netbox` on the replayed recordings: every device and problem, versions, tokens, changes."""

import asyncio
import csv
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from netautod.assembly.settings import table
from netautod.plugin_api import InventoryFailed, InventoryPage, InventoryProbe, RemoteProblem
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod_netbox.netbox_rows import NetBoxPage, NetBoxRows
from tests.plugins.netbox.support import Walk, netbox, source_of, walk
from tests.support.servers.inventory import DATA, Row, json_answer
from tests.support.servers.netbox import (
    V1_TOKEN,
    V2_TOKEN,
    NetBoxReplay,
    as_netbox_3,
    generated_devices,
    recorded_devices,
)

__all__ = ["netbox"]
PROBLEMS = [
    RemoteProblem(external_id="61", inventory_id=61, name=None, error="the device has no name"),
    RemoteProblem(
        external_id="63",
        inventory_id=63,
        name="no-platform",
        error="the device has no primary IP address",
    ),
]


def expected_devices() -> list[dict[str, str]]:
    with (DATA / "netbox" / "expected-devices.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def as_expected(found: Walk) -> list[dict[str, str]]:
    return [
        {
            "id": device.external_id,
            "name": device.name,
            "host": device.host,
            "device_type": device.device_type,
            "manufacturer": device.manufacturer or "",
            "model": device.model or "",
            "platform": device.platform or "",
            "site": device.site or "",
            "serial_number": device.serial_number or "",
            "asset_tag": device.asset_tag or "",
            "tags": " ".join(device.tags),
            "description": device.description or "",
        }
        for device in found.devices
    ]


@pytest.mark.parametrize(
    "largest", [pytest.param(largest, id=f"pages of {largest}") for largest in (7, 64, 1000)]
)
async def test_the_recorded_netbox_is_read_whole(netbox: NetBoxReplay, largest: int) -> None:
    netbox.largest = largest
    found = await walk(source_of(netbox))
    assert as_expected(found) == expected_devices()
    assert found.problems == PROBLEMS
    assert all(device.inventory_id == int(device.external_id) for device in found.devices)
    assert found.incomplete is None
    assert found.pages == -(-64 // largest)


async def test_netbox_3_is_read_the_same(netbox: NetBoxReplay) -> None:
    older = NetBoxReplay([as_netbox_3(row) for row in recorded_devices()], version="3.7.8")
    try:
        assert await source_of(older).probe() == InventoryProbe(
            system="NetBox", version="3.7.8", device_count=64
        )
        first, second = await walk(source_of(older)), await walk(source_of(netbox))
    finally:
        older.close()
    assert as_expected(first) == as_expected(second)
    roles = [[device.metadata["role"] for device in found.devices] for found in (first, second)]
    assert roles[0] == roles[1]


async def test_the_role_of_netbox_3_under_its_old_name_only() -> None:
    row = as_netbox_3(recorded_devices()[0])
    del row["role"]
    older = NetBoxReplay([row], version="3.7.8")
    older_filters = {"roles": ["access-switch"]}
    try:
        older.ignores_filters = True
        found = await walk(source_of(older, filters=older_filters))
    finally:
        older.close()
    assert found.devices[0].metadata["role"] == "Access Switch"


async def test_what_is_kept_beside_the_fields(netbox: NetBoxReplay) -> None:
    found = {device.external_id: device.metadata for device in (await walk(source_of(netbox))).devices}
    assert found["1"] == {
        "url": f"{netbox.url}/dcim/devices/1/",
        "platform_slug": "cisco-ios-xe",
        "status": "active",
        "role": "Access Switch",
        "tenant": "Acme",
        "location": "Row A",
        "custom_fields": {"owner_team": "net-0", "ssh_port": 2222},
    }
    assert found["64"] == {
        "url": f"{netbox.url}/dcim/devices/64/",
        "platform_slug": "juniper-junos",
        "status": "active",
        "role": "Router",
    }


async def test_paging_is_by_key_with_large_pages_without_config_contexts() -> None:
    server = NetBoxReplay(generated_devices(1600))
    try:
        found = await walk(source_of(server))
    finally:
        server.close()
    assert [device.name for device in found.devices] == [f"device-{at:06d}" for at in range(1, 1601)]
    keys = [(query["id__gt"], query["limit"]) for query in server.lists()]
    assert keys == [(["0"], ["250"]), (["250"], ["1000"]), (["1250"], ["1000"])]
    for query in server.lists():
        assert query["ordering"] == ["id"]
        assert query["exclude"] == ["config_context"]
        assert "offset" not in query


@pytest.mark.parametrize(
    "suffix",
    [
        pytest.param("", id="as it is"),
        pytest.param("/", id="a slash"),
        pytest.param("/api", id="the API"),
        pytest.param("/api/", id="the API with a slash"),
    ],
)
@pytest.mark.parametrize(
    "prefix", [pytest.param("", id="at the root"), pytest.param("/it/netbox", id="prefixed")]
)
async def test_urls_that_users_give(prefix: str, suffix: str) -> None:
    server = NetBoxReplay(prefix=prefix)
    try:
        found = await walk(source_of(server, url=server.url + suffix))
    finally:
        server.close()
    assert len(found.devices) == 62
    assert found.devices[0].metadata["url"] == f"{server.url}/dcim/devices/1/"


@pytest.mark.parametrize(
    ("version", "token", "refusal"),
    [
        pytest.param("4.7.3", V1_TOKEN, None, id="a v1 token of a NetBox that has both kinds"),
        pytest.param("4.7.3", V2_TOKEN, None, id="a v2 token"),
        pytest.param("4.4.2", V1_TOKEN, None, id="a v1 token of a NetBox that has no others"),
        pytest.param("4.4.2", V2_TOKEN, "Invalid v1 token", id="a v2 token where there are none"),
        pytest.param("4.7.3", "wrong", "access is refused: Invalid v1 token", id="a wrong token"),
        pytest.param("4.7.3", "", "credentials were not provided", id="no token"),
        pytest.param("4.7.3", "a b", "printable ASCII", id="a token with a blank"),
        pytest.param("4.7.3", "a\r\nHost: x", "printable ASCII", id="a token with a header in it"),
    ],
)
async def test_tokens(version: str, token: str, refusal: str | None) -> None:
    server = NetBoxReplay(version=version)
    source = source_of(server, token=token)
    try:
        if refusal is None:
            assert (await source.probe()) == InventoryProbe(system="NetBox", version=version, device_count=64)
        else:
            with pytest.raises(InventoryFailed, match=refusal):
                await source.probe()
    finally:
        server.close()


@pytest.mark.parametrize(
    ("version", "refusal"),
    [
        pytest.param("3.7.0", None, id="the oldest"),
        pytest.param("4.0.11-Docker-2.9.1", None, id="a container's"),
        pytest.param("4.99-beta1", None, id="a beta"),
        pytest.param("3.6.9", r"NetBox 3\.6\.9 is not supported; supported is 3\.7 to 4\.x", id="too old"),
        pytest.param("2.11.12", "is not supported", id="much too old"),
        pytest.param("5.0.0", "is not supported", id="too new"),
        pytest.param("unknown", "the unknown version unknown", id="no number"),
        pytest.param(4, "the unknown version 4", id="not even a text"),
        pytest.param("9" * 5000, "the unknown version", id="one long number"),
    ],
)
async def test_versions(netbox: NetBoxReplay, version: Any, refusal: str | None) -> None:
    netbox.status = lambda: {"netbox-version": version}  # type: ignore[method-assign]
    if refusal is None:
        assert (await source_of(netbox).probe()) is not None
    else:
        with pytest.raises(InventoryFailed, match=refusal):
            await source_of(netbox).probe()


async def test_a_virtual_chassis_member_without_an_address_is_a_problem(netbox: NetBoxReplay) -> None:
    chassis = {"id": 1, "name": "stack-1", "master": {"id": 1, "name": "acc-ber-00"}}
    master, member = netbox.rows[0], netbox.rows[1]
    netbox.rows = [
        {**master, "virtual_chassis": chassis, "vc_position": 1},
        {**member, "virtual_chassis": chassis, "vc_position": 2, "primary_ip": None},
    ]
    found = await walk(source_of(netbox))
    assert [device.metadata["virtual_chassis"] for device in found.devices] == ["stack-1"]
    assert [device.metadata["vc_position"] for device in found.devices] == [1]
    assert [problem.error for problem in found.problems] == [
        "the member of the virtual chassis stack-1 has no primary IP address of its own"
    ]


async def test_nested_platforms_are_known_by_their_parents(netbox: NetBoxReplay) -> None:
    """Look up the parents: the recorded 4.7 nests `cisco-ios-xe-17-9`; here a name without a meaning, two
    levels down.
    """
    netbox.platforms += [
        {"id": 90, "name": "Campus", "slug": "campus", "parent": {"id": 2}},
        {"id": 91, "name": "Campus gold", "slug": "campus-gold", "parent": {"id": 90}},
        {"id": 92, "name": "Loop", "slug": "loop", "parent": {"id": 93}},
        {"id": 93, "name": "Loop again", "slug": "loop-again", "parent": {"id": 92}},
    ]
    row = netbox.rows[0]
    netbox.rows = [
        {**row, "id": at, "platform": {"id": 0, "name": slug, "slug": slug, "_depth": 2}}
        for at, slug in enumerate(("campus-gold", "loop"), start=1)
    ]
    netbox.largest = 5
    plain = await walk(source_of(netbox))
    own = await walk(source_of(netbox, device_types={"campus": "my_os"}))
    assert [device.device_type for device in plain.devices] == ["cisco_nxos", "cisco_ios"]
    assert [device.device_type for device in own.devices] == ["my_os", "cisco_ios"]


async def test_a_token_that_may_not_see_platforms_still_reads_devices(netbox: NetBoxReplay) -> None:
    netbox.hidden.add("dcim/platforms")
    assert as_expected(await walk(source_of(netbox))) == expected_devices()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param({"name": ""}, "the device has no name", id="an empty name"),
        pytest.param({"name": "  "}, "the device has no name", id="a blank name"),
        pytest.param(
            {"name": "x" * 256}, "name is longer than 255 characters", id="a name of 256 characters"
        ),
        pytest.param({"name": "a\x00b"}, "name contains characters that cannot", id="NUL in the name"),
        pytest.param({"serial": "\ud800"}, "serial contains characters that cannot", id="half a character"),
        pytest.param(
            {"primary_ip": {"address": "nonsense"}}, "is no IP address", id="an address that is none"
        ),
        pytest.param({"primary_ip": {"address": "::ffff/x"}}, None, id="an address with a strange length"),
        pytest.param({"custom_fields": {"a": "x" * 20_000}}, "larger than 16 KiB", id="large custom fields"),
        pytest.param(
            {"custom_fields": {"a": "\ud800"}}, "cannot be stored", id="custom fields half a character"
        ),
        pytest.param(
            {"custom_fields": {"a": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}},
            "nested over 16 levels",
            id="deep custom fields",
        ),
    ],
)
async def test_one_bad_device_does_not_keep_the_others_out(
    netbox: NetBoxReplay, change: Row, error: str | None
) -> None:
    netbox.rows = [{**netbox.rows[0], **change}, netbox.rows[1]]
    found = await walk(source_of(netbox))
    assert [device.external_id for device in found.devices][-1:] == ["2"]
    assert [(problem.external_id, problem.inventory_id) for problem in found.problems] == (
        [] if error is None else [("1", 1)]
    )
    assert all(error is not None and error in problem.error for problem in found.problems)


async def test_a_deletion_between_pages_loses_nothing(netbox: NetBoxReplay) -> None:
    netbox.largest = 10
    before = [str(row["id"]) for row in netbox.rows]
    requests = iter(range(100))
    netbox.before_list = lambda: netbox.delete(3) if next(requests) == 2 else None
    found = await walk(source_of(netbox))
    assert found.ids == sorted(before)
    assert found.incomplete is None


async def test_the_next_page_is_made_while_this_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    server, next_page, read = NetBoxReplay(generated_devices(3000)), threading.Event(), NetBoxRows.read
    server.before_list = lambda: next_page.set() if len(server.lists()) > 1 else None

    def read_late(self: NetBoxRows, body: bytes, after: int) -> NetBoxPage:
        assert next_page.wait(10), "the next page was not requested"
        return read(self, body, after)

    monkeypatch.setattr(NetBoxRows, "read", read_late)
    try:
        found = await walk(source_of(server))
    finally:
        server.close()
    assert (len(found.devices), found.incomplete) == (3000, None)
    assert [query["id__gt"] for query in server.lists()] == [["0"], ["250"], ["1250"], ["2250"]]


async def test_a_glance_that_is_wrong_costs_a_request_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("netautod_netbox.netbox.guessed_last_id", lambda body: 2900)
    server = NetBoxReplay(generated_devices(3000))
    try:
        found = await walk(source_of(server))
        assert (len(set(found.ids)), len(found.ids), found.incomplete) == (3000, 3000, None)
    finally:
        server.close()


async def test_a_server_that_withholds_devices_is_an_incomplete_walk(netbox: NetBoxReplay) -> None:
    netbox.largest = 10
    netbox.scripted.append(json_answer({"count": 0, "results": []}))  # the platforms
    netbox.scripted.append(json_answer({"count": 64, "results": []}))
    found = await walk(source_of(netbox))
    assert found.incomplete == "NetBox counts 64 more devices but does not list them"


async def test_devices_that_vanish_during_the_walk_make_it_incomplete() -> None:
    server = NetBoxReplay(generated_devices(600), largest=250)
    # As when the token loses its rights: lists become empty, and no error says so.
    server.before_list = lambda: server.delete(*range(251, 601)) if len(server.lists()) > 1 else None
    try:
        found = await walk(source_of(server))
    finally:
        server.close()
    assert len(found.devices) == 250
    assert found.incomplete == "350 of NetBox's devices vanished during the walk"


async def test_platforms_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netautod_netbox.netbox.MOST_PLATFORMS", 30)
    server = NetBoxReplay()
    server.scripted += [
        json_answer({"count": 10**9, "results": [{"id": at, "slug": f"p{at}", "parent": None}]})
        for at in range(1, 40)
    ]
    try:
        with pytest.raises(InventoryFailed, match="more than 30 platforms"):
            await walk(source_of(server))
    finally:
        server.close()
    assert len(server.lists("dcim/platforms")) == 31


async def test_an_empty_netbox() -> None:
    server = NetBoxReplay([])
    try:
        probed = await source_of(server).probe()
        found = await walk(source_of(server))
    finally:
        server.close()
    assert probed is not None
    assert probed.device_count == 0
    assert found == Walk()


async def test_a_page_has_each_device_once(netbox: NetBoxReplay) -> None:
    pages: list[InventoryPage] = [page async for page in source_of(netbox).devices()]
    ids = [device.external_id for page in pages for device in page.devices]
    assert len(ids) == len(set(ids))


async def test_an_abandoned_walk_leaves_nothing_under_way(netbox: NetBoxReplay) -> None:
    """Cancel the next page, which is fetched while this one is used, with the walk."""
    netbox.largest = 10
    before = asyncio.all_tasks()
    pages = source_of(netbox).devices()
    assert isinstance(pages, AsyncGenerator)
    assert len((await anext(pages)).devices) == 10
    assert len(asyncio.all_tasks() - before) > 0
    await pages.aclose()
    assert asyncio.all_tasks() == before


def test_the_plugin_registers_both_sources() -> None:
    manager = PluginManager(LoadedPlugins.load(table()))
    assert {"netbox", "nautobot"} <= set(manager.inventory_sources())
