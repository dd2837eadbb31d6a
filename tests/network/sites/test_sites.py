"""Sites over HTTP: fields, uniqueness, organizations, permissions. Renames are tested with the devices."""

import asyncio
from typing import Any

import pytest

from tests.network.devices.inventory import Inventory
from tests.support.client import assert_error


async def test_a_site_is_created_read_changed_and_deleted(inventory: Inventory) -> None:
    site = await inventory.site("  Berlin ")
    path = f"/api/sites/{site['id']}"
    assert (site["name"], site["description"]) == ("Berlin", None)
    changed = (await inventory.api.put(path, {"description": "HQ", "id": "x"})).json
    assert (changed["name"], changed["description"]) == ("Berlin", "HQ")
    assert (await inventory.api.put(path, {})).json == changed
    assert (await inventory.api.get(path)).json == changed
    assert (await inventory.api.put(path, {"description": None})).json["description"] is None
    assert (await inventory.api.delete(path)).status == 204
    assert_error(await inventory.api.get(path), 404, "Site not found")
    assert_error(await inventory.api.put(path, {"name": "x"}), 404, "Site not found")


async def test_sites_are_listed_by_name_and_page(inventory: Inventory) -> None:
    for name in ("b", "a", "c"):
        await inventory.site(name)
    page = (await inventory.api.get("/api/sites?limit=2&offset=1")).json
    assert ([site["name"] for site in page["sites"]], page["total"]) == (["b", "c"], 3)


async def test_a_name_is_unique_in_its_organization_also_under_parallel_creates(inventory: Inventory) -> None:
    responses = await asyncio.gather(*(inventory.api.post("/api/sites", {"name": "x"}) for _ in range(20)))
    assert sorted(response.status for response in responses) == [201] + [409] * 19
    other = await inventory.site("y")
    refused = await inventory.api.put(f"/api/sites/{other['id']}", {"name": "x"})
    assert_error(refused, 409, "Site with this name already exists")
    assert (await inventory.elsewhere().post("/api/sites", {"name": "x"})).status == 201


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param({}, "name: Missing", id="no name"),
        pytest.param({"name": ""}, "name", id="empty name"),
        pytest.param({"name": {"$gt": ""}}, "name: Not a valid string", id="operator object"),
        pytest.param({"name": "a", "description": ["x"]}, "description", id="array for a text"),
        pytest.param({"name": "a", "city": "x"}, "city: Unknown field", id="unknown field"),
    ],
)
async def test_bad_input(inventory: Inventory, body: dict[str, Any], text: str) -> None:
    assert_error(await inventory.api.post("/api/sites", body), 400, text)


async def test_another_organization_sees_nothing(inventory: Inventory) -> None:
    site = await inventory.site("Berlin")
    other = inventory.elsewhere()
    for method in ("GET", "PUT", "DELETE"):
        assert_error(await other.request(method, f"/api/sites/{site['id']}", {}), 404, "Site not found")
    assert (await other.get("/api/sites")).json["total"] == 0
    assert (await inventory.api.get(f"/api/sites/{site['id']}")).status == 200


async def test_permissions(inventory: Inventory) -> None:
    site = await inventory.site("Berlin")
    path = f"/api/sites/{site['id']}"
    reader = inventory.with_permissions("devices.access")
    assert (await reader.get("/api/sites")).status == (await reader.get(path)).status == 200
    assert (await reader.post("/api/sites", {"name": "x"})).status == 403
    assert (await reader.put(path, {"name": "x"})).status == (await reader.delete(path)).status == 403
    assert (await inventory.with_permissions("docs.manage").get("/api/sites")).status == 403
