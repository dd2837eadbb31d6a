"""Whose word the devices of an inventory rest on: that of whoever saved the source, or named it."""

from typing import Any

import pytest

from tests.network.inventory.sync.fake_inventory import TOKEN, URL, machine
from tests.network.inventory.sync.world import AD_HOC, SOURCES, World
from tests.support.client import ApiClient

USABLE, WAITS = "usable", "waits_for_approval"
BODY = {"name": "netbox", "url": URL, "token": TOKEN}


def mover(world: World) -> ApiClient:
    return world.with_permissions("devices.manage")


async def states(world: World) -> dict[str, str]:
    return {name: device.credential_state for name, device in (await world.node.all()).items()}


async def saved(api: ApiClient) -> Any:
    return (await api.post(SOURCES, BODY)).expect(201)


async def synced(api: ApiClient, source: Any, **body: bool) -> None:
    (await api.post(f"{SOURCES}/{source['id']}/sync", body)).expect()


async def test_a_source_of_who_may_manage_credentials_vouches_whoever_syncs_it(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await saved(world.api)
    await synced(mover(world), source)
    assert await states(world) == {"sw1": USABLE}
    world.remote.change(1, host="192.0.2.99")
    await synced(mover(world), source)
    assert await states(world) == {"sw1": USABLE}


async def test_a_source_of_somebody_else_vouches_for_nothing_whoever_syncs_it(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await saved(mover(world))
    await synced(world.api, source)
    assert await states(world) == {"sw1": WAITS}


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        pytest.param({"device_filters": {"tags": ["other"]}}, WAITS, id="other filters"),
        pytest.param({"url": f"{URL}/other"}, WAITS, id="another path"),
        pytest.param({"token": TOKEN}, WAITS, id="a token"),
        pytest.param({"name": "renamed", "sync_interval_hours": 7}, USABLE, id="a name and an interval"),
        pytest.param({"url": URL, "device_filters": {}, "verify_ssl": True}, USABLE, id="what was there"),
    ],
)
async def test_an_edit_of_a_source_by_somebody_else(world: World, fields: dict[str, Any], state: str) -> None:
    source = await saved(world.api)
    path = f"{SOURCES}/{source['id']}"
    (await mover(world).put(path, fields)).expect()
    world.remote.has(machine(1, "sw1"))
    await synced(world.api, source)
    assert await states(world) == {"sw1": state}
    (await world.api.put(path, {"url": URL, "device_filters": {}, "token": TOKEN})).expect()
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    await synced(world.api, source)
    assert (await states(world))["sw2"] == USABLE


async def test_a_source_of_somebody_else_takes_the_word_from_a_device_that_it_moves(world: World) -> None:
    await world.device(name="sw1", host="192.0.2.1")
    world.remote.has(machine(1, "sw1"))
    source = await saved(mover(world))
    await synced(mover(world), source)  # adopted where it is
    assert await states(world) == {"sw1": USABLE}
    world.remote.change(1, description="only said")
    await synced(mover(world), source)
    assert await states(world) == {"sw1": USABLE}
    world.remote.change(1, host="192.0.2.99")
    await synced(mover(world), source)
    assert await states(world) == {"sw1": WAITS}
    assert (await world.audited("device.update"))[-1]["vouched"] is False


async def test_a_source_gives_its_word_to_no_device_that_somebody_else_moved(world: World) -> None:
    """The inventory knows nothing of the port."""
    world.remote.has(machine(1, "sw1"))
    source = await saved(world.api)
    await synced(world.api, source)
    device = (await world.node.all())["sw1"]
    (await mover(world).put(f"/api/devices/{device.id}", {"port": 2222, "host": "192.0.2.66"})).expect()
    await synced(world.api, source)
    now = (await world.node.all())["sw1"]
    assert (now.host, now.port, now.credential_state) == ("192.0.2.1", 2222, WAITS)


async def test_a_device_that_comes_back_has_the_word_that_it_had(world: World) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await saved(world.api)
    await synced(world.api, source)
    device = (await world.node.all())["sw2"]
    (await mover(world).put(f"/api/devices/{device.id}", {"port": 2222})).expect()
    world.remote.drop(1, 2)
    await synced(world.api, source, confirm_removals=True)
    assert await states(world) == {}
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    await synced(world.api, source)
    assert await states(world) == {"sw1": USABLE, "sw2": WAITS}


@pytest.mark.parametrize(
    ("held", "state"),
    [
        pytest.param(("devices.manage", "credentials.manage"), USABLE, id="by who may manage credentials"),
        pytest.param(("devices.manage",), WAITS, id="by somebody else"),
    ],
)
async def test_an_inventory_that_the_request_names(world: World, held: tuple[str, ...], state: str) -> None:
    world.remote.has(machine(1, "sw1"))
    body = {"inventory_url": URL, "token": TOKEN}
    (await world.with_permissions(*held).post(AD_HOC, body)).expect()
    assert await states(world) == {"sw1": state}
