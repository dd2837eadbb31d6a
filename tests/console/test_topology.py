"""The network: which part of it is shown, where things stand in the drawing, and the page."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from netautod.console.topology.layout import MOST_LINES, Drawing, drawing_of
from netautod.console.topology.network import MOST_NODES, Part, Shown, natural, part_of
from netautod.core.identity.caller import OrgId
from netautod.network.discovery.models import Topology
from netautod.network.discovery.tables.models import PollNote
from netautod.plugin_api.discovery.rows import Collected, DeviceFacts, Neighbor
from tests.console.site import Site

SEEN = datetime(2026, 11, 20, tzinfo=UTC)
HOSTILE = "<script>alert('lldp')</script>"
READ = "devices.access"


def network(links: Iterable[tuple[str, str]], strangers: Iterable[str] = ()) -> Topology:
    """Nodes by name, which is their id, too; a link joins the ports with the same number on both."""
    links = list(links)
    names = sorted({name for link in links for name in link})
    unknown = set(strangers)
    return Topology(
        nodes=[
            {
                "id": name,
                "device_id": None if name in unknown else name,
                "name": name,
                "platform": None,
                "mgmt_address": None,
            }
            for name in names
        ],
        links=[
            {
                "a": {"node": a, "interface": f"Gi0/{number}"},
                "b": {"node": b, "interface": f"Gi0/{number}"},
                "protocols": ["lldp"],
                "last_seen_at": "2026-11-20T00:00:00.000Z",
            }
            for number, (a, b) in enumerate(links)
        ],
        generated_at=SEEN,
    )


def names(shown: Shown) -> list[str]:
    return [node.name for node in shown.nodes]


CHAIN = network([("a", "b"), ("b", "c"), ("c", "d"), ("b", "phone"), ("x", "y")], ["phone"])


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        pytest.param(Part(around="a"), ["a", "b", "c", "phone"], id="two hops, the nearest first"),
        pytest.param(Part(around="a", hops=1), ["a", "b"], id="one hop"),
        pytest.param(Part(around="a", hops=3), ["a", "b", "c", "phone", "d"], id="three hops"),
        pytest.param(Part(around="a", known_only=True), ["a", "b", "c"], id="without strangers"),
        pytest.param(Part(around="z"), [], id="a device without neighbors"),
        pytest.param(Part(within={"c", "d", "q"}), ["c", "d", "b"], id="a site and what is beside it"),
        pytest.param(Part(within=set()), [], id="an empty site"),
        pytest.param(Part(), ["a", "b", "c", "d", "x", "y", "phone"], id="all"),
    ],
)
def test_the_part_that_was_asked_for_is_chosen(part: Part, expected: list[str]) -> None:
    shown = part_of(CHAIN, part)
    assert names(shown) == expected
    assert shown.found == len(expected)
    assert all(cable.a in shown.nodes and cable.b in shown.nodes for cable in shown.cables)


def test_of_too_many_nodes_the_nearest_are_drawn_and_of_a_whole_network_none() -> None:
    star = network([("hub", f"leaf-{number}") for number in range(400)])
    shown = part_of(star, Part(around="hub"))
    assert (len(shown.nodes), shown.found, len(shown.cables)) == (MOST_NODES, 401, MOST_NODES - 1)
    assert names(shown)[:3] == ["hub", "leaf-0", "leaf-1"]
    shown = part_of(star, Part())
    assert (names(shown), shown.found, len(shown.cables)) == ([], 401, 400)


def test_numbers_in_names_are_sorted_by_value() -> None:
    assert sorted(["Gi1/0/10", "Gi1/0/9", "gi1/0/1", "Te1"], key=natural) == [
        "gi1/0/1",
        "Gi1/0/9",
        "Gi1/0/10",
        "Te1",
    ]


def drawn(topology: Topology, root: str | None = None) -> Drawing:
    shown = part_of(topology, Part())
    return drawing_of(shown.nodes, shown.cables, root)


def places(drawing: Drawing) -> dict[str, tuple[int, int]]:
    return {box.node.name: (box.x, box.y) for box in drawing.boxes}


def test_columns_are_distances_and_no_two_boxes_meet() -> None:
    drawing = drawn(CHAIN, "a")
    at = places(drawing)
    assert at["a"][0] < at["b"][0] < at["c"][0] == at["phone"][0] < at["d"][0]
    assert at["a"][1] == at["b"][1] == at["c"][1]
    assert at["x"][1] > max(y for name, (_, y) in at.items() if name not in "xy")
    boxes = list(drawing.boxes)
    for one in boxes:
        assert 0 < one.x < one.x + one.width < drawing.width
        assert 0 < one.y < drawing.height
        assert not any(
            abs(one.y - other.y) < 19 and one.x < other.x + other.width and other.x < one.x + one.width
            for other in boxes
            if other is not one
        )
    assert [box.node.name for box in boxes if box.is_root] == ["a"]


def test_without_a_root_the_core_stands_first() -> None:
    tree = [(f"core-{core}", f"dist-{dist}") for core in (1, 2) for dist in (1, 2, 3)]
    tree += [(f"dist-{dist}", f"access-{dist}-{one}") for dist in (1, 2, 3) for one in range(9)]
    tree += [("access-1-1", f"phone-{one}") for one in range(30)]
    tree += [(f"access-{dist}-2", f"phone-{dist}0") for dist in (1, 2, 3)]
    drawing = drawn(network(tree, [f"phone-{one}" for one in range(31)]))
    at = places(drawing)
    assert min(at, key=lambda name: at[name][0]).startswith("core")


def test_the_same_network_gives_the_same_drawing_whatever_the_order_of_its_rows() -> None:
    turned = Topology(nodes=CHAIN.nodes[::-1], links=CHAIN.links[::-1], generated_at=SEEN)
    assert drawn(CHAIN) == drawn(turned)


def test_cables_between_two_nodes_are_one_line_and_very_many_lines_one_element() -> None:
    drawing = drawn(network([("a", "b")] * 6))
    (line,) = drawing.lines
    assert line.weight == 3
    assert line.title.startswith("a Gi0/0 - b Gi0/0\n")
    assert line.title.endswith("and 2 more")
    mesh = drawn(network([(f"n{a}", f"n{b}") for a in range(40) for b in range(a)]))
    assert len(mesh.lines) == MOST_LINES
    assert mesh.other_lines.count("M") == 40 * 39 // 2 - MOST_LINES


@pytest.fixture(scope="module")
async def devices(site: Site) -> dict[str, str]:
    """Three in a row, and a neighbor of the last that nobody knows."""
    made = {}
    for name, where in (("sw1", "Berlin"), ("sw2", "Berlin"), ("sw10", "Ulm"), ("alone", "Ulm")):
        body = {"name": name, "host": "192.0.2.1", "device_type": "cisco_ios", "site": where}
        made[name] = (await site.api().post("/api/devices", body)).expect(201)["id"]
    await _heard(site, made["sw1"], ("Gi0/1", "sw2", "Gi0/2"))
    await _heard(site, made["sw2"], ("Gi0/2", "sw1", "Gi0/1"), ("Gi0/3", "sw10", "Gi0/9"))
    await _heard(site, made["sw10"], ("Gi0/7", HOSTILE, HOSTILE))
    return made


async def _heard(site: Site, device_id: str, *rows: tuple[str, str, str]) -> None:
    neighbors = [
        Neighbor(local_interface=local, protocol="lldp", remote_system_name=name, remote_port=port)
        for local, name, port in rows
    ]
    note = PollNote(state="completed", error=None, reachable=True, latency_ms=1.0, at=SEEN)
    await site.installation.stores.discovered.replace(
        OrgId(site.admin.org_id),
        device_id,
        Collected(status=DeviceFacts(), neighbors=neighbors),
        sources={"neighbors": "snmp"},
        note=note,
    )


def drawn_names(page: Any) -> list[str]:
    return [each.text for each in page.all("text")]


async def test_the_page_draws_and_lists_what_is_around_a_device(site: Site, devices: dict[str, str]) -> None:
    viewer = site.browser(READ)
    page = await viewer.get("/topology?device=sw1&site=&hops=1")
    assert drawn_names(page) == ["sw1", "sw2"]
    assert [row[:6] for row in page.rows] == [["sw1", "Gi0/1", "sw2", "Gi0/2", "LLDP", "2026-11-20 00:00"]]
    assert page.links["sw2"] == f"/devices/{devices['sw2']}"
    (svg,) = page.all("svg")
    assert {page.all("title", id=one)[0].text for one in svg.attributes["aria-labelledby"].split()[:1]} == {
        "Topology around sw1"
    }
    page = await viewer.get(f"/topology?device={devices['sw1']}")
    assert drawn_names(page) == ["sw1", "sw2", "sw10"]
    assert page.all("input", name="device")[0].attributes["value"] == "sw1"


async def test_a_site_is_drawn_with_what_is_beside_it_and_strangers_can_be_left_out(
    site: Site, devices: dict[str, str]
) -> None:
    viewer = site.browser(READ)
    page = await viewer.get("/topology?site=Ulm")
    assert sorted(drawn_names(page)) == sorted([HOSTILE[:27] + "\N{HORIZONTAL ELLIPSIS}", "sw10", "sw2"])
    assert page.rows[1][:4] == ["sw10", "Gi0/7", HOSTILE, HOSTILE]
    assert HOSTILE not in page.html
    page = await viewer.get("/topology?site=Ulm&neighbors=devices")
    assert sorted(drawn_names(page)) == ["sw10", "sw2"]
    page = await viewer.get("/topology?limit=1&offset=1")
    assert page.rows[0][:3] == ["sw2", "Gi0/3", "sw10"]
    assert page.links["Next"] == "/topology?limit=1&offset=2"


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        pytest.param("device=alone", 200, "No neighbor of this device is known.", id="no neighbor"),
        pytest.param("site=Nowhere", 200, "No device with a known neighbor is at this site.", id="no site"),
        pytest.param("device=nobody", 404, "no device has this in its name", id="no such name"),
        pytest.param(f"device={'0' * 8}-0000-4000-8000-{'0' * 12}", 404, "Device not found", id="no such id"),
        pytest.param("device=sw1&site=Ulm", 400, "only one of the two", id="both"),
        pytest.param("device=sw", 200, "Which device?", id="several devices"),
        pytest.param("hops=4", 400, "hops: ", id="too many hops"),
    ],
)
async def test_what_cannot_be_drawn_says_why(
    site: Site, devices: dict[str, str], query: str, status: int, text: str
) -> None:
    page = await site.browser(READ).get(f"/topology?{query}", status=status)
    assert text in page.text
    assert page.all("svg") == []


async def test_others_see_nothing_of_it(site: Site, devices: dict[str, str]) -> None:
    stranger = site.browser("*", org_id="00000000-0000-4000-8000-00000000000f")
    assert "No poll has found a neighbor yet" in (await stranger.get("/topology")).text
    await stranger.get(f"/topology?device={devices['sw1']}", status=404)
    await site.browser().get("/topology", status=403)
