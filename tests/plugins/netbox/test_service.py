"""The real service, the real plugin and the replayed recordings: syncs and saved sources over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.client import ApiClient
from tests.support.programs.service import serving
from tests.support.servers.nautobot import TOKEN as NAUTOBOT_TOKEN
from tests.support.servers.nautobot import NautobotReplay
from tests.support.servers.netbox import V1_TOKEN, V2_TOKEN, NetBoxReplay, as_netbox_3, recorded_devices

SYNC = "/api/devices/sync/inventory"
SOURCES = "/api/devices/sources/inventory"
COUNTS = ("added", "updated", "unchanged", "failed", "removed")
FAILURES = [
    (61, None, "the device has no name"),
    (63, "no-platform", "the device has no primary IP address"),
    (62, "acc-ber-00", "another device of the inventory has the same name"),
]


@pytest.fixture(scope="module")
async def service_client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ApiClient]:
    variables = {"NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1"}
    async with serving(tmp_path_factory.mktemp("inventory") / "data", variables=variables) as service:
        yield await service.client()


@pytest.fixture
async def client(service_client: ApiClient) -> AsyncIterator[ApiClient]:
    """Yield a client of the service without devices and sources."""
    yield service_client
    for source in (await service_client.get(SOURCES)).json["sources"]:
        await service_client.delete(f"{SOURCES}/{source['id']}")
    while devices := (await service_client.get("/api/devices?limit=100")).json["devices"]:
        for device in devices:
            await service_client.delete(f"/api/devices/{device['id']}")


@pytest.fixture
async def netbox() -> AsyncIterator[NetBoxReplay]:
    made = NetBoxReplay()
    made.largest = 25
    yield made
    made.close()


async def synced(client: ApiClient, url: str, token: str, **more: Any) -> dict[str, Any]:
    result: dict[str, Any] = (
        await client.post(SYNC, {"inventory_url": url, "token": token, **more})
    ).expect()
    return result


def counts(result: dict[str, Any]) -> dict[str, int]:
    return {name: result[name] for name in COUNTS if result[name]}


async def test_the_recorded_netbox_first_again_and_changed(client: ApiClient, netbox: NetBoxReplay) -> None:
    tested = await client.post(f"{SYNC}/test", {"inventory_url": netbox.url, "token": V1_TOKEN})
    assert (tested.json["success"], tested.json["device_count"]) == (True, 64)
    first = await synced(client, netbox.url, V1_TOKEN)
    assert counts(first) == {"added": 61, "failed": 3}
    found = [(error["inventory_id"], error["name"], error["error"]) for error in first["errors"]]
    assert found == FAILURES
    assert counts(await synced(client, netbox.url, V2_TOKEN)) == {"unchanged": 61, "failed": 3}
    netbox.rows[1] = {**netbox.rows[1], "serial": "SN-NEW"}
    netbox.rows[2] = {**netbox.rows[2], "last_updated": "2027-01-01T00:00:00Z"}
    assert counts(await synced(client, netbox.url, V1_TOKEN)) == {"updated": 1, "unchanged": 60, "failed": 3}


async def test_a_saved_source_removes_what_is_gone(client: ApiClient, netbox: NetBoxReplay) -> None:
    body = {
        "name": "netbox",
        "url": f"{netbox.url}/api/",
        "token": V1_TOKEN,
        "device_filters": {"roles": ["router"]},
    }
    source = (await client.post(SOURCES, body)).json
    first = await client.post(f"{SOURCES}/{source['id']}/sync")
    assert counts(first.json) == {"added": 20}
    netbox.delete(4, 5)
    second = await client.post(f"{SOURCES}/{source['id']}/sync")
    assert counts(second.json) == {"unchanged": 18, "removed": 2}


async def test_netbox_3_and_nautobot(client: ApiClient) -> None:
    older = NetBoxReplay([as_netbox_3(row) for row in recorded_devices()], version="3.7.8")
    nautobot = NautobotReplay()
    try:
        assert counts(await synced(client, older.url, V1_TOKEN)) == {"added": 61, "failed": 3}
        assert counts(await synced(client, nautobot.url, NAUTOBOT_TOKEN)) == {"added": 30}
        assert counts(await synced(client, nautobot.url, NAUTOBOT_TOKEN)) == {"unchanged": 30}
    finally:
        older.close()
        nautobot.close()


@pytest.mark.parametrize(
    ("token", "filters", "text"),
    [
        pytest.param("wrong", {}, "access is refused: Invalid v1 token", id="a wrong token"),
        pytest.param(
            V1_TOKEN, {"sites": ["nope"]}, "site: Select a valid choice. nope is not", id="no such site"
        ),
    ],
)
async def test_refusals_are_passed_on(
    client: ApiClient, netbox: NetBoxReplay, token: str, filters: dict[str, Any], text: str
) -> None:
    body = {"inventory_url": netbox.url, "token": token, "filters": filters}
    refused = await client.post(SYNC, body)
    assert refused.status == 502
    assert text in refused.json["error"]
    tested = await client.post(f"{SYNC}/test", body)
    assert (tested.status, tested.json["success"]) == (200, False)
    assert text in tested.json["message"]


async def test_devices_missed_by_an_incomplete_walk_are_not_removed(client: ApiClient) -> None:
    nautobot = NautobotReplay()
    nautobot.largest = 10
    body = {"name": "nautobot", "url": nautobot.url, "token": NAUTOBOT_TOKEN}
    try:
        source = (await client.post(SOURCES, body)).json
        assert counts((await client.post(f"{SOURCES}/{source['id']}/sync")).json) == {"added": 30}
        nautobot.rows.sort(key=lambda row: str(row["id"]))
        requests = iter(range(100))

        def shift() -> None:
            if next(requests) == 2:  # after the probe and the first page
                nautobot.rows = nautobot.rows[2:]

        nautobot.before_list = shift
        second = (await client.post(f"{SOURCES}/{source['id']}/sync")).json
        assert counts(second) == {"unchanged": 29}
        assert "changed during the walk" in second["errors"][0]["error"]
        assert counts((await client.post(f"{SOURCES}/{source['id']}/sync")).json) == {
            "unchanged": 28,
            "removed": 2,
        }
    finally:
        nautobot.close()
