"""The source `nautobot` on the replayed recordings: every device, drivers of platforms, offsets, filters."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from netautod.plugin_api import InventoryFailed, InventoryProbe, RemoteDevice
from netautod_netbox import NautobotSource, NetBoxSource
from tests.plugins.netbox.support import access, walk
from tests.support.servers.inventory import Row, json_answer
from tests.support.servers.nautobot import TOKEN, NautobotReplay, recorded_devices
from tests.support.servers.netbox import V1_TOKEN, NetBoxReplay

FIRST = "d120014d-50c8-425e-97bb-5f9c95944478"


@pytest.fixture
async def nautobot() -> AsyncIterator[NautobotReplay]:
    made = NautobotReplay()
    yield made
    made.close()


def source_of(server: NautobotReplay, **changes: Any) -> NautobotSource:
    return NautobotSource(access(changes.pop("url", server.url), changes.pop("token", TOKEN), **changes))


def expected(server: NautobotReplay, at: int, device_id: str) -> RemoteDevice:
    """Return the device that is expected. The recorded fleet repeats itself: even devices are Cisco's in
    Berlin, odd ones Juniper's in Paris.
    """
    is_even = at % 2 == 0
    return RemoteDevice(
        external_id=device_id,
        inventory_id=None,
        name=f"dev-{at:02d}",
        host=f"10.0.{at}.1",
        device_type="cisco_ios" if is_even else "juniper_junos",
        manufacturer="Cisco" if is_even else "Juniper",
        model="Catalyst 9300-48P" if is_even else "MX204",
        platform="Cisco IOS-XE" if is_even else "Junos",
        site="Berlin DC1" if is_even else "Paris Branch",
        serial_number=f"SN{at}",
        tags=("prod",) if at % 3 == 0 else (),
        metadata={
            "url": f"{server.url}/dcim/devices/{device_id}/",
            "platform_slug": "cisco-ios-xe" if is_even else "junos",
            "status": "Planned" if at % 5 == 0 else "Active",
            "role": "Router X",
        },
    )


@pytest.mark.parametrize(
    "largest", [pytest.param(largest, id=f"pages of {largest}") for largest in (1, 2, 7, 30, 1000)]
)
async def test_the_recorded_nautobot_is_read_whole(nautobot: NautobotReplay, largest: int) -> None:
    nautobot.largest = largest
    found = await walk(source_of(nautobot))
    ids = {row["name"]: row["id"] for row in recorded_devices()}
    wanted = [expected(nautobot, at, ids[f"dev-{at:02d}"]) for at in range(30)]
    assert sorted(found.devices, key=lambda device: device.name) == wanted
    assert (found.problems, found.incomplete) == ([], None)


async def test_the_answering_system_is_recognised(nautobot: NautobotReplay) -> None:
    netbox = NetBoxReplay()
    try:
        assert await NetBoxSource(access(nautobot.url, TOKEN)).probe() is None
        assert await NautobotSource(access(netbox.url, V1_TOKEN)).probe() is None
    finally:
        netbox.close()
    assert await source_of(nautobot).probe() == InventoryProbe(
        system="Nautobot", version="3.2.7", device_count=30
    )


@pytest.mark.parametrize(
    ("version", "refusal"),
    [
        pytest.param("2.0.0", None, id="the oldest"),
        pytest.param("3.2.7", None, id="the recorded one"),
        pytest.param(
            "1.6.32", r"Nautobot 1\.6\.32 is not supported; supported is 2\.x and 3\.x", id="too old"
        ),
        pytest.param("4.0.0", "is not supported", id="too new"),
        pytest.param("", "the unknown version", id="an empty one"),
    ],
)
async def test_versions(version: str, refusal: str | None) -> None:
    server = NautobotReplay(version=version)
    try:
        if refusal is None:
            assert (await source_of(server).probe()) is not None
        else:
            with pytest.raises(InventoryFailed, match=refusal):
                await source_of(server).probe()
    finally:
        server.close()


async def test_a_wrong_token(nautobot: NautobotReplay) -> None:
    with pytest.raises(InventoryFailed, match="access is refused: Invalid token") as failure:
        await source_of(nautobot, token="secret-token").probe()
    assert "secret-token" not in failure.value.text


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        pytest.param({"sites": ["Berlin DC1"]}, 15, id="a location"),
        pytest.param({"sites": ["Berlin DC1", "Paris Branch"]}, 30, id="both locations"),
        pytest.param({"roles": ["Router X"]}, 30, id="a role"),
        pytest.param({"statuses": ["Planned"]}, 6, id="a status"),
        pytest.param({"platforms": ["Junos"]}, 15, id="a platform"),
        pytest.param({"manufacturers": ["Cisco"]}, 15, id="a manufacturer"),
        pytest.param({"tags": ["prod"]}, 10, id="a tag"),
        pytest.param({"name": "dev-07"}, 1, id="a name"),
    ],
)
async def test_filters_are_those_of_nautobot(
    nautobot: NautobotReplay, filters: dict[str, Any], count: int
) -> None:
    source = source_of(nautobot, filters=filters)
    probed = await source.probe()
    assert probed is not None
    assert probed.device_count == count
    assert len((await walk(source)).ids) == count


async def test_a_filter_value_that_does_not_exist(nautobot: NautobotReplay) -> None:
    source = source_of(nautobot, filters={"statuses": ["banana"]})
    with pytest.raises(InventoryFailed, match=r"status: Select a valid choice\. banana is not"):
        await source.probe()


async def test_a_version_that_knows_no_sort_is_walked_without() -> None:
    server = NautobotReplay(refuses_sort=True)
    server.largest = 7
    try:
        source = source_of(server)
        await source.probe()
        found = await walk(source)
    finally:
        server.close()
    assert (len(found.devices), found.incomplete) == (30, None)


@pytest.mark.parametrize(
    ("change", "seen", "is_whole"),
    [
        pytest.param(lambda rows: rows[:-1], 29, True, id="a device ahead of the walk is deleted"),
        pytest.param(lambda rows: rows[1:], 30, False, id="one behind it is deleted: still nothing slips by"),
        pytest.param(lambda rows: rows[2:], 29, False, id="two behind it are deleted: one slips by"),
        pytest.param(lambda rows: [*added("00"), *rows], 30, False, id="one behind it is added"),
        pytest.param(
            lambda rows: [*rows[2:], *added("fe", "ff")], 31, False, id="two are replaced: the count stays"
        ),
        pytest.param(lambda rows: [], 10, False, id="all are deleted"),
    ],
)
async def test_changes_between_pages(
    nautobot: NautobotReplay, change: Any, seen: int, is_whole: bool
) -> None:
    nautobot.largest = 10
    nautobot.rows.sort(key=lambda row: str(row["id"]))
    requests = iter(range(100))

    def before() -> None:
        if next(requests) == 1:
            nautobot.rows = change(nautobot.rows)

    nautobot.before_list = before
    found = await walk(source_of(nautobot))
    assert len(found.ids) == len(set(found.ids)) == seen
    assert (found.incomplete is None) == is_whole


async def test_a_server_that_gives_one_page_again_and_again_is_left() -> None:
    server = NautobotReplay()
    answer = json_answer({"count": 10**9, "results": server.rows[:5]})
    server.scripted.append(json_answer({"count": 0, "results": []}))  # the manufacturers
    server.scripted += [answer] * 50
    try:
        found = await walk(source_of(server))
    finally:
        server.close()
    assert (len(found.ids), len(server.lists())) == (5, 2)
    assert found.incomplete is not None


async def test_manufacturers_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netautod_netbox.nautobot.MOST_MANUFACTURERS", 30)
    server = NautobotReplay()
    server.scripted += [
        json_answer({"count": 10**9, "results": [{"id": str(uuid4()), "name": f"m{at}"}]}) for at in range(40)
    ]
    try:
        with pytest.raises(InventoryFailed, match="more than 30 manufacturers"):
            await walk(source_of(server))
    finally:
        server.close()


def added(*beginnings: str) -> list[Row]:
    return [{**recorded_devices()[0], "id": f"{beginning}{FIRST[2:]}"} for beginning in beginnings]


@pytest.mark.parametrize(
    ("platform", "device_types", "wanted"),
    [
        pytest.param({}, {}, "cisco_ios", id="what its mappings say to Netmiko"),
        pytest.param({"network_driver_mappings": {}}, {}, "cisco_ios", id="the name of its driver"),
        pytest.param({"network_driver_mappings": None}, {}, "cisco_ios", id="no mappings at all"),
        pytest.param({"network_driver": ""}, {}, "cisco_ios", id="mappings without a driver"),
        pytest.param(
            {"network_driver": "", "network_driver_mappings": {}}, {}, "cisco_ios", id="the slug of its name"
        ),
        pytest.param(
            {"network_driver_mappings": {"netmiko": "Not one!"}}, {}, "cisco_ios", id="a bad mapping"
        ),
        pytest.param({}, {"cisco-ios-xe": "mine"}, "mine", id="the user's own map, by the slug of the name"),
        pytest.param({}, {"cisco_ios": "mine"}, "mine", id="the user's own map, by the driver"),
        pytest.param(None, {}, "cisco_ios", id="no platform: manufacturer and model"),
    ],
)
async def test_device_types(
    nautobot: NautobotReplay, platform: Row | None, device_types: dict[str, str], wanted: str
) -> None:
    row = nautobot.rows[0]
    changed = None if platform is None else {**row["platform"], **platform}
    nautobot.rows = [{**row, "platform": changed}]
    found = await walk(source_of(nautobot, device_types=device_types))
    assert [device.device_type for device in found.devices] == [wanted]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param({"name": None}, "the device has no name", id="no name"),
        pytest.param({"primary_ip4": None}, "the device has no primary IP address", id="no address"),
        pytest.param(
            {"primary_ip4": {"id": FIRST}},
            "the token may not see the device's primary",
            id="a hidden address",
        ),
        pytest.param(
            {"primary_ip4": None, "virtual_chassis": {"id": FIRST, "name": "stack"}},
            "the member of the virtual chassis stack has no primary IP address of its own",
            id="a member of a virtual chassis",
        ),
    ],
)
async def test_devices_that_cannot_be_imported(nautobot: NautobotReplay, change: Row, error: str) -> None:
    nautobot.rows[0].update(change)
    found = await walk(source_of(nautobot))
    assert [(problem.external_id, problem.inventory_id) for problem in found.problems] == [(FIRST, None)]
    assert error in found.problems[0].error
    assert len(found.devices) == 29


async def test_an_address_of_ipv6_alone(nautobot: NautobotReplay) -> None:
    nautobot.rows = [{**nautobot.rows[0], "primary_ip4": None, "primary_ip6": {"address": "2001:DB8::7/64"}}]
    assert [device.host for device in (await walk(source_of(nautobot))).devices] == ["2001:db8::7"]


async def test_a_token_that_may_not_see_manufacturers_still_reads_devices(nautobot: NautobotReplay) -> None:
    nautobot.hidden.add("dcim/manufacturers")
    found = await walk(source_of(nautobot))
    assert [device.manufacturer for device in found.devices] == [None] * 30
