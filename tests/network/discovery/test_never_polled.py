"""Discovered data on a node that does not poll: the shapes of a device that was never polled, and no more."""

from pathlib import Path
from typing import Any

import pytest

from netautod.store.client import Database
from tests.network.devices.inventory import ABSENT_ID, DEVICE, created
from tests.network.discovery.served import discovery_of
from tests.support.client import ApiClient, ServedRoutes, assert_error
from tests.support.installation import open_installation
from tests.support.serving import Serve

STATUS_FIELDS = {
    *("reachable", "latency_ms", "sys_name", "sys_descr", "vendor", "model", "os_version", "serial_number"),
    *("uptime_seconds", "cpu_percent", "memory_percent", "last_poll_state", "last_poll_error"),
    *("last_success_at", "collected_at"),
}
NEVER: dict[str, Any] = {"total": 0, "collected_at": None}
READS = {
    "interfaces": {"interfaces": [], **NEVER},
    "neighbors": {"neighbors": [], **NEVER},
    "mac-table": {"entries": [], **NEVER, "limit": 1000},
    "arp-table": {"entries": [], **NEVER, "limit": 1000},
    "vlans": {"vlans": [], **NEVER},
    "status": dict.fromkeys(STATUS_FIELDS),
    "poll-history": {"polls": [], "total": 0, "limit": 50},
}


@pytest.fixture
async def served(indexed: Database, serve: Serve, tmp_path: Path) -> ServedRoutes:
    installation = await open_installation(indexed, tmp_path)
    devices = installation.devices().devices
    return await serve(devices, discovery_of(installation, devices))


@pytest.fixture
def api(served: ServedRoutes) -> ApiClient:
    return served.client("*")[0]


@pytest.mark.parametrize("read", READS)
async def test_a_device_that_was_never_polled(api: ApiClient, read: str) -> None:
    device = await created(api, "/api/devices", DEVICE)
    answer = await api.get(f"/api/devices/{device['id']}/{read}")
    own = {"device_id": device["id"]} if read == "status" else {}
    assert (answer.status, answer.json) == (200, {**READS[read], **own})


@pytest.mark.parametrize(
    ("read", "query", "limit"),
    [
        pytest.param("mac-table", "limit=1", 1, id="a small limit"),
        pytest.param("mac-table", "limit=10000", 10_000, id="the cap of a table"),
        pytest.param("arp-table", "limit=10001", 10_000, id="over the cap of a table"),
        pytest.param("poll-history", "limit=500", 500, id="the cap of the history"),
        pytest.param("poll-history", "limit=9999", 500, id="over the cap of the history"),
    ],
)
async def test_a_limit_is_answered_as_it_was_applied(
    api: ApiClient, read: str, query: str, limit: int
) -> None:
    device = await created(api, "/api/devices", DEVICE)
    assert (await api.get(f"/api/devices/{device['id']}/{read}?{query}")).json["limit"] == limit


@pytest.mark.parametrize("read", ["mac-table", "arp-table", "poll-history"])
@pytest.mark.parametrize("limit", ["0", "-1", "many", "1.5", ""])
async def test_a_limit_that_is_none_is_a_400(api: ApiClient, read: str, limit: str) -> None:
    device = await created(api, "/api/devices", DEVICE)
    assert_error(await api.get(f"/api/devices/{device['id']}/{read}?limit={limit}"), 400, "limit")


@pytest.mark.parametrize("path", [*READS, "poll"])
async def test_a_device_that_is_not_there_is_a_404(served: ServedRoutes, api: ApiClient, path: str) -> None:
    theirs = await created(served.client("*")[0], "/api/devices", DEVICE)
    method = "POST" if path == "poll" else "GET"
    for device_id in (ABSENT_ID, theirs["id"], "no-uuid"):
        answer = await api.request(method, f"/api/devices/{device_id}/{path}")
        assert_error(answer, 404, "Device not found")


async def test_a_deleted_device_has_no_data(api: ApiClient) -> None:
    device = await created(api, "/api/devices", DEVICE)
    assert (await api.delete(f"/api/devices/{device['id']}")).status == 204
    assert_error(await api.get(f"/api/devices/{device['id']}/status"), 404, "Device not found")


async def test_a_poll_is_refused_while_nobody_polls(served: ServedRoutes, api: ApiClient) -> None:
    device = await created(api, "/api/devices", DEVICE)
    for permission in ("devices.access", "*"):
        client = served.client(permission, org_id=device["org_id"])[0]
        answer = await client.post(f"/api/devices/{device['id']}/poll")
        assert_error(answer, 503, "The poll service is not running")
    answer = await served.client("tasks.operate")[0].post(f"/api/devices/{device['id']}/poll")
    assert_error(answer, 403, "Insufficient permissions")


async def test_the_topology_of_a_network_without_neighbors_is_empty(api: ApiClient) -> None:
    await created(api, "/api/devices", DEVICE)
    answer = (await api.get("/api/devices/topology")).json
    assert (answer["nodes"], answer["links"], set(answer)) == ([], [], {"nodes", "links", "generated_at"})


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("mac=00:1b:54:aa:bb:cc", id="a MAC address"),
        pytest.param("mac=001b.54aa.bbcc", id="a MAC address as Cisco prints it"),
        pytest.param("ip=192.0.2.1", id="an IPv4 address"),
        pytest.param("ip=2001:db8::1", id="an IPv6 address"),
        pytest.param("ip=192.0.2.1&limit=x", id="a key that the route does not know"),
    ],
)
async def test_what_nobody_saw_is_not_found(api: ApiClient, query: str) -> None:
    await created(api, "/api/devices", DEVICE)
    assert (await api.get(f"/api/devices/find?{query}")).json == {"matches": []}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("", "mac and ip", id="neither"),
        pytest.param("mac=001b54aabbcc&ip=192.0.2.1", "mac and ip", id="both"),
        pytest.param("mac=00:1b", "mac: Not a MAC address", id="a piece of a MAC address"),
        pytest.param("mac=", "mac: Not a MAC address", id="an empty MAC address"),
        pytest.param("ip=192.0.2.0/24", "ip: Not an IP address", id="a network"),
        pytest.param("ip=core-1", "ip: Not an IP address", id="a name"),
        pytest.param("mac=x&ip=192.0.2.1", "mac: Not a MAC address", id="a bad one beside a good one"),
    ],
)
async def test_a_search_needs_exactly_one_address(api: ApiClient, query: str, text: str) -> None:
    assert_error(await api.get(f"/api/devices/find?{query}"), 400, text)
