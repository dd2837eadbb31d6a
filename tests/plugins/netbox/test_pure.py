"""The parts of the inventory plugin that touch no network: device types, listings, addresses, the loop."""

import json
import time
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from netautod.plugin_api import InventoryFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod_netbox.device_types import DEVICE_TYPE, DeviceTypes, slug_of
from netautod_netbox.errors import Malformed
from netautod_netbox.filters import Obedience
from netautod_netbox.limits import PageSize
from netautod_netbox.listing import PIECES, guessed_count, guessed_last_id, parse
from netautod_netbox.netbox_rows import NetBoxRows, PlatformTree
from netautod_netbox.urls import base_of, url_of
from tests.support.calibration import slowness
from tests.support.servers.inventory import Row
from tests.support.servers.netbox import generated_devices
from tests.support.tables import over

STALL_SECONDS = 0.02
PLATFORMS = PlatformRegistry()
SLUGS = PLATFORMS.slugs


@over(
    ("slugs", "manufacturer", "model", "wanted"),
    [
        pytest.param(("cisco-ios-xe",), "cisco", "C9300", "cisco_ios", id="a slug of the table"),
        pytest.param(("Cisco_IOS-XE",), None, None, "cisco_ios", id="the same spelt otherwise"),
        pytest.param(("arista_eos",), None, None, "arista_eos", id="a device type as the slug"),
        pytest.param(("eos",), None, None, "arista_eos", id="a driver of NAPALM"),
        pytest.param(("campus", "cisco-nxos"), "cisco", None, "cisco_nxos", id="unknown below a known one"),
        pytest.param(("junos", "linux"), None, None, "juniper_junos", id="the nearest known one decides"),
        pytest.param(("debian-12",), "dell", None, "linux", id="with a version"),
        pytest.param(("cisco-ios-xe-v17-9-4a",), None, None, "cisco_ios", id="with a long version"),
        pytest.param(("linux-lab",), None, None, "generic", id="what follows is no version"),
        pytest.param(
            ("ios-17-9", "linux"), None, None, "linux", id="a parent before the slug without version"
        ),
        pytest.param((), "cisco", "Nexus 93180YC-EX", "cisco_nxos", id="no platform: Nexus"),
        pytest.param((), "cisco", "NCS 5501", "cisco_xr", id="no platform: NCS"),
        pytest.param((), "cisco", "ASR 9001", "cisco_xr", id="no platform: ASR 9000"),
        pytest.param((), "cisco", "ASR 1001-X", "cisco_ios", id="no platform: ASR 1000"),
        pytest.param((), "cisco", "Catalyst 9300-48P", "cisco_ios", id="no platform: Catalyst"),
        pytest.param((), "cisco", "ASA 5506-X", "cisco_asa", id="no platform: ASA"),
        pytest.param((), "cisco", "CP-8845", "generic", id="no platform: a telephone"),
        pytest.param((), "arista", "DCS-7050SX3-48YC8", "arista_eos", id="no platform: Arista"),
        pytest.param((), "juniper", "EX4300-48T", "juniper_junos", id="no platform: EX"),
        pytest.param((), "palo-alto", "PA-3220", "paloalto_panos", id="no platform: PA"),
        pytest.param((), "fortinet", "FortiGate 100F", "fortinet", id="no platform: FortiGate"),
        pytest.param((), "hpe", "Aruba 2930F", "hp_procurve", id="no platform: 2930F"),
        pytest.param((), "aruba", "CX 6300M", "aruba_aoscx", id="no platform: CX"),
        pytest.param((), "mikrotik", "CCR2004-1G-12S+2XS", "mikrotik_routeros", id="no platform: CCR"),
        pytest.param((), "dell", "PowerEdge R640", "generic", id="no platform: a server"),
        pytest.param((), None, None, "generic", id="nothing known"),
        pytest.param(("mystery",), "cisco", "Catalyst 9300", "cisco_ios", id="unknown platform, known model"),
    ],
)
def test_device_types(
    slugs: tuple[str, ...], manufacturer: str | None, model: str | None, wanted: str
) -> None:
    assert DeviceTypes({}, platforms=SLUGS).find(slugs, manufacturer, model) == wanted


@over(
    ("overrides", "slugs", "wanted"),
    [
        pytest.param({"cisco-ios-xe": "mine"}, ("cisco-ios-xe",), "mine", id="a slug of the table"),
        pytest.param({"cisco-ios-xe": "mine"}, ("gold", "cisco-ios-xe"), "mine", id="a parent"),
        pytest.param({"gold": "mine"}, ("gold", "cisco-ios-xe"), "mine", id="one below a known one"),
        pytest.param({"debian": "mine"}, ("debian-12",), "mine", id="a slug without its version"),
        pytest.param({"Cisco IOS-XE": "mine"}, ("cisco-ios-xe",), "mine", id="a name instead of a slug"),
    ],
)
def test_the_users_own_map_comes_first(
    overrides: dict[str, str], slugs: tuple[str, ...], wanted: str
) -> None:
    assert DeviceTypes(overrides, platforms=SLUGS).find(slugs, None, None) == wanted


@over("value", ["", "Cisco", "a-b", "x" * 65, "ios\n"])
def test_device_types_that_are_none(value: str) -> None:
    with pytest.raises(InventoryFailed):
        DeviceTypes({"ios": value}, platforms=SLUGS)


@over("name", PLATFORMS.names())
def test_every_name_of_a_platform_leads_to_it(name: str) -> None:
    platform, types = PLATFORMS.get(name), DeviceTypes({}, platforms=SLUGS)
    names = [name, *platform.aliases, *platform.names.netbox, *platform.names.napalm]
    assert {types.find((slug_of(spelt),), None, None) for spelt in names} == {name}
    assert DEVICE_TYPE.fullmatch(name)


@over(
    "value",
    [
        pytest.param({"count": 0, "results": []}, id="empty"),
        pytest.param({"results": [{"id": 1}], "next": None, "count": 1}, id="in another order"),
        pytest.param(
            {"count": 2, "results": [{"a": [1, {"b": 'x"]},{'}]}, {"c": "é\u2028"}]}, id="signs in texts"
        ),
        pytest.param(
            {"count": 1, "results": [{"x": "y" * (PIECES[0] + 10)}]}, id="a device over the first piece"
        ),
        pytest.param({"count": 1, "more": {"results": [1]}, "results": [{}]}, id="other members"),
    ],
)
@over("indent", [None, 2])
def test_listings_are_parsed_as_json_does(value: Any, indent: int | None) -> None:
    for ascii_only in (True, False):
        rows: list[Any] = []
        found = parse(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode(), rows.append)
        assert (found.count, found.rows, rows) == (value["count"], len(rows), value["results"])


@over(
    "text",
    [
        '{"count": 1, "results": [{}],}',
        '{"count": 1 "results": [{}]}',
        '{"count": 1, "results": [{},]}',
        '{"count": 1, "results": [{} {}]}',
        '{"count": 1, "results": [{}]',
        '{count: 1, "results": [{}]}',
        '{"count": 01, "results": []}',
        '{1: 1, "count": 1, "results": []}',
        '{"count": 1, "results": [{"a": Infinity}]}',
        "{",
        "null",
    ],
)
def test_listings_that_json_refuses_too(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text.encode(), lambda row: None)


@over(
    ("url", "base"),
    [
        ("https://netbox.example", "https://netbox.example"),
        ("https://netbox.example:8443/", "https://netbox.example:8443"),
        ("https://netbox.example/api", "https://netbox.example"),
        ("https://netbox.example/netbox//api//", "https://netbox.example/netbox"),
        ("https://api.example/my-api", "https://api.example/my-api"),
        ("http://[2001:db8::1]:8000/api/", "http://[2001:db8::1]:8000"),
    ],
)
def test_base_addresses(url: str, base: str) -> None:
    assert base_of(url) == base


def test_values_of_queries_are_encoded() -> None:
    made = url_of("https://n.example", "dcim/devices", [("location", "A & B/ü"), ("location", "C#1")])
    assert made == "https://n.example/api/dcim/devices/?location=A+%26+B%2F%C3%BC&location=C%231"


def test_page_sizes_follow_the_server() -> None:
    size = PageSize()
    seen = [size.limit]
    for seconds in (0.5, 0.5, 5.0, 12.0, 12.0, 2.0):
        size.took(seconds)
        seen.append(size.limit)
    assert seen == [250, 1000, 1000, 1000, 500, 250, 1000]
    for _ in range(10):
        size.shrink()
    assert size.limit == 25


@over(
    "body",
    [
        pytest.param(
            json.dumps({"count": 2000, "results": generated_devices(2000)}), id="2,000 devices, 6 MB"
        ),
        pytest.param(
            json.dumps({"count": 1, "results": [{"id": 1, "x": [[]] * 200_000}]}), id="one fat device"
        ),
        pytest.param(
            json.dumps({"count": 1, "x": [[[]]] * 1_000_000, "results": []}), id="another fat member"
        ),
    ],
)
def test_no_part_of_a_large_page_holds_the_interpreter(body: str) -> None:
    """Let other threads, such as the event loop, run between devices at the latest.

    In CPU time of the thread, so that a busy machine changes nothing; the garbage collector may strike once.
    """
    assert min(_longest_part(body.encode()) for _ in range(5)) < STALL_SECONDS * slowness()


def _longest_part(body: bytes) -> float:
    rows = NetBoxRows(
        "https://n.example",
        types=DeviceTypes({}, platforms=SLUGS),
        tree=PlatformTree(),
        obedience=Obedience({}),
    )
    marks = [time.thread_time()]

    def take(row: Row) -> None:
        rows.read(json.dumps({"count": 1, "results": [row]}).encode(), 0)
        marks.append(time.thread_time())

    with suppress(Malformed):
        parse(body, take)
    marks.append(time.thread_time())
    return max(after - before for before, after in pairwise(marks))


@over(
    ("body", "count", "last"),
    [
        pytest.param(
            '{"count":7,"results":[{"id":1},{"id":23,"name":"a"}]}', 7, 23, id="as NetBox writes it"
        ),
        pytest.param('{ "count": 7, "results": [ {"id": 5} ] }\n', 7, 5, id="with blanks"),
        pytest.param(
            '{"count":7,"results":[{"id":1,"tags":[{"id":9},{"id":8}]}]}', 7, 1, id="objects in a device"
        ),
        pytest.param(
            '{"count":7,"results":[{"id":1,"custom_fields":{"x":[{"id":9}]}}]}', 7, 1, id="deep in a device"
        ),
        pytest.param(
            '{"count":7,"results":[{"id":1,"name":"{\\"id\\":9}]}"}]}', 7, 1, id="a name that looks like one"
        ),
        pytest.param('{"count":0,"results":[]}', 0, None, id="no devices"),
        pytest.param('{"results":[{"id":4}],"count":7}', 7, None, id="members in another order"),
        pytest.param('{"count":7,"results":[{"name":"a","id":4}]}', 7, None, id="the id is not the first"),
        pytest.param('{"count":7,"results":[{"id":' + "[" * 20_000, 7, None, id="cut short and deep"),
        pytest.param("<html>", None, None, id="no JSON"),
    ],
)
def test_what_a_page_shows_at_a_glance(body: str, count: int | None, last: int | None) -> None:
    assert (guessed_count(body.encode()), guessed_last_id(body.encode())) == (count, last)


def test_a_glance_at_a_hostile_page_is_short() -> None:
    body = b'{"count":7,"results":[' + b'{"id":1' * 50_000
    began = time.thread_time()
    assert guessed_last_id(body) is None
    assert time.thread_time() - began < STALL_SECONDS * slowness()
