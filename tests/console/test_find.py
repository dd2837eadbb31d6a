"""The search box: an address in any notation at its port, and names of all kinds."""

from urllib.parse import quote

import pytest

from netautod.console.find.query import typed_ip, typed_mac
from netautod.plugin_api import Collected
from netautod.plugin_api.discovery.rows import ArpEntry, Interface, MacEntry, Neighbor
from tests.console.seeds import device, polled
from tests.console.site import Site

MAC, ADDRESS = "02:ab:cd:00:00:07", "10.20.30.40"


@pytest.mark.parametrize(
    "text",
    [
        *("02:ab:cd:00:00:07", "02-AB-CD-00-00-07", "02ab.cd00.0007", "02ab-cd00-0007", "02abcd000007"),
        *("2:ab:cd:0:0:7", " 02:AB:CD:00:00:07 ", "02 ab cd 00 00 07", "02abcd-000007"),
    ],
)
def test_notations_of_a_mac_address(text: str) -> None:
    assert typed_mac(text) == MAC


@pytest.mark.parametrize("text", ["02:ab:cd:00:00", "02:ab:cd:00:00:07:08", "core-1", "02abcd00000g", ""])
def test_what_is_no_mac_address(text: str) -> None:
    assert typed_mac(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.20.30.40", ADDRESS),
        (" 10.20.30.40/24", ADDRESS),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("10.20.30", None),
        ("core", None),
    ],
)
def test_notations_of_an_ip_address(text: str, found: str | None) -> None:
    assert typed_ip(text) == found


async def network(site: Site) -> dict[str, str]:
    """core -- dist == access (two cables, one aggregate) -- phone -- the address."""
    ids = {name: await device(site, f"{name}-sw") for name in ("core", "dist", "access")}
    behind = [MacEntry(mac_address=f"02:ab:cd:00:01:{n:02x}", interface="Gi1") for n in range(5)]
    await polled(
        site,
        ids["core"],
        Collected(
            # No protocol is spoken there: the port has more addresses than the one at the edge.
            mac=[MacEntry(mac_address=MAC, vlan_id=7, interface="Gi1"), *behind],
            arp=[ArpEntry(ip_address=ADDRESS, mac_address=MAC, interface="Vlan7")],
            neighbors=[],
        ),
    )
    await polled(
        site,
        ids["dist"],
        Collected(
            mac=[MacEntry(mac_address=MAC, vlan_id=7, interface="Po1")],
            interfaces=[Interface(name=f"GigabitEthernet1/{n}", lag="Port-channel1") for n in (1, 2)],
            neighbors=[
                Neighbor(
                    local_interface="Gi1/2",
                    protocol="lldp",
                    remote_system_name="access-sw",
                    remote_capabilities=("bridge", "router"),
                )
            ],
        ),
    )
    await polled(
        site,
        ids["access"],
        Collected(
            mac=[MacEntry(mac_address=MAC, vlan_id=7, interface="Gi3")],
            neighbors=[
                Neighbor(
                    local_interface="Gi3",
                    protocol="lldp",
                    remote_system_name="SEP1",
                    remote_capabilities=("bridge", "telephone"),
                )
            ],
        ),
    )
    return ids


async def test_the_edge_port_comes_first(site: Site) -> None:
    ids = await network(site)
    browser = site.browser("devices.access")
    for text in ("02AB.CD00.0007", f"{ADDRESS}/24"):
        page = await browser.get(f"/find?q={quote(text)}")
        ports = [row[:5] for row in page.rows if len(row) == 6]
        assert ports == [
            ["access-sw", "Gi3 edge", "7", MAC, "SEP1"],
            ["core-sw", "Gi1", "7", MAC, "6 addresses"],
            ["dist-sw", "Po1 uplink", "7", MAC, "access-sw"],
        ], text
        assert page.links["access-sw"] == f"/devices/{ids['access']}"
        assert ["core-sw", "Vlan7", ADDRESS, MAC] in [row[:4] for row in page.rows]
    stranger = site.browser("devices.access", org_id="another")
    assert "No polled table has" in (await stranger.get(f"/find?q={MAC}")).text


async def test_an_interface_with_the_address(site: Site) -> None:
    made = await device(site, "owner")
    own = Interface(name="lo0", mac_address="02:00:00:00:99:99")
    await polled(site, made, Collected(interfaces=[own]))
    page = await site.browser("devices.access").get("/find?q=0200.0000.9999")
    assert [row[:3] for row in page.rows] == [["owner", "lo0", "02:00:00:00:99:99"]]


async def test_names_of_devices_tasks_and_documents(site: Site) -> None:
    api = site.api()
    await device(site, "needle-<b>", host="192.0.2.200")
    task = {"name": "Needle work", "task_type": "backup", "cron_expression": "0 3 * * *", "parameters": {}}
    (await api.post("/api/tasks/schedules", task)).expect(201)
    document = {"name": "about a needle", "category": "mops", "content_type": "text", "content": "x"}
    (await api.post("/api/docs", document)).expect(201)
    note = {**document, "name": "a needle of a note", "category": "notes"}
    (await api.post("/api/docs", note)).expect(201)
    page = await site.browser("devices.access", "tasks.operate", "docs.read").get("/find?q=needle")
    assert {"needle-<b>", "Needle work", "about a needle"} <= page.links.keys()
    assert "a needle of a note" not in page.text
    assert (
        "needle of a note"
        in (await site.browser("devices.access", "docs.read", "notes.read").get("/find?q=needle")).text
    )
    assert "about a needle" not in (await site.browser("devices.access").get("/find?q=needle")).text
    assert page.links["search configs for “needle”"] == "/search?q=needle"
    assert "Needle work" not in (await site.browser("devices.access").get("/find?q=needle")).text
    page = await site.browser("devices.access").get("/find?q=192.0.2.200")
    assert "needle-<b>" in page.links
    page = await site.browser("devices.access").get("/find?q=.*")
    assert "Nothing has “.*” in its name" in page.text
    assert page.links["search configs for “.*”"] == "/search?q=.%2A"
    page = await site.browser("devices.access").get("/find")
    assert "A MAC or IP address in any notation" in page.text
    await site.browser("tasks.operate").get("/find?q=x", status=403)
