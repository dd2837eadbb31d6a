"""Devices behind telnet over the API: who may have them, what is sent to them, and what is shown."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netautod.store.client import Database
from netautod.testing import ios_config
from tests.network.configs.fleet import PASSWORD as FLEET_PASSWORD
from tests.network.configs.fleet import Fleet, open_fleet
from tests.support.client import Response, assert_error
from tests.support.programs import telnetd
from tests.support.serving import Serve

CONFIG = ios_config("sw1")


@pytest.fixture
async def allowing(indexed: Database, serve: Serve, tmp_path: Path) -> AsyncIterator[Fleet]:
    async with open_fleet(indexed, serve, tmp_path, allow_telnet=True) as made:
        yield made


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    async with telnetd.running_telnetd(tmp_path, CONFIG, password=FLEET_PASSWORD) as found:
        yield found


async def device(fleet: Fleet, port: int, **fields: Any) -> str:
    return await fleet.entry("sw1", port, protocol="telnet", **fields)


async def pull(fleet: Fleet, device_id: str) -> Response:
    return await fleet.api.post(f"/api/config/devices/{device_id}/pull")


async def test_its_configuration_is_stored(allowing: Fleet, port: int) -> None:
    device_id = await device(allowing, port)
    assert (await allowing.pulled(device_id))["size"] == len(CONFIG)
    shown = (await allowing.api.get(f"/api/devices/{device_id}")).expect()
    assert (shown["protocol"], shown["host_key_fingerprint"]) == ("telnet", None)


async def test_its_port_is_that_of_telnet(allowing: Fleet) -> None:
    fields = {"name": "old", "host": "192.0.2.1", "device_type": "cisco_ios", "protocol": "telnet"}
    assert (await allowing.api.post("/api/devices", fields)).expect(201)["port"] == 23


async def test_a_pinned_key_does_not_vouch_for_it(allowing: Fleet, port: int) -> None:
    """A device whose key was pinned gets its password wherever it is: not when it shows none."""
    device_id = await allowing.device(allowing.simulated())
    await allowing.pulled(device_id)
    mover = allowing.with_permissions("devices.manage", "devices.access")
    moved = {"protocol": "telnet", "port": port}
    shown = (await mover.put(f"/api/devices/{device_id}", moved)).expect()
    assert shown["credential_state"] == "waits_for_approval"
    listed = (await mover.get("/api/devices?credential_state=waits_for_approval")).expect()
    assert [item["id"] for item in listed["devices"]] == [device_id]
    assert_error(await pull(allowing, device_id), 409, "waits for approval")
    (await allowing.api.post(f"/api/devices/{device_id}/vouch")).expect()
    await allowing.pulled(device_id)


async def test_a_refused_password_is_a_refused_login(allowing: Fleet, port: int) -> None:
    wrong = await allowing.credential("wrong", secret="not this one at all")
    device_id = await device(allowing, port, default_credential_id=wrong)
    answer = await allowing.tested(device_id)
    assert not answer["success"]
    assert answer["message"].startswith("login failed: ")


async def test_a_setting_that_is_taken_back_counts_for_devices_that_there_are(
    allowing: Fleet, port: int
) -> None:
    device_id = await device(allowing, port)
    allowing.sessions.settings = replace(allowing.sessions.settings, allow_telnet=False)
    assert_error(await pull(allowing, device_id), 502, "sw1: telnet encrypts nothing")


async def test_nothing_is_reached_through_it(allowing: Fleet) -> None:
    old = await device(allowing, 1)
    fields = {"name": "behind", "host": "192.0.2.9", "device_type": "cisco_ios", "jump_device_id": old}
    assert_error(await allowing.api.post("/api/devices", fields), 400, "jump_device_id: nothing can be")
    jump = await allowing.entry("jump", 22)
    (await allowing.api.post("/api/devices", {**fields, "jump_device_id": jump})).expect(201)
    answer = await allowing.api.put(f"/api/devices/{jump}", {"protocol": "telnet"})
    assert_error(answer, 400, "protocol: nothing can be reached")


async def test_rows_of_an_import(allowing: Fleet, fleet: Fleet) -> None:
    row = {"name": "row", "host": "192.0.2.1", "device_type": "cisco_ios", "protocol": "telnet"}
    assert (await allowing.api.post("/api/devices/import/json", [row])).expect()["imported"] == 1
    (error,) = (await fleet.api.post("/api/devices/import/json", [{**row, "name": "b"}])).expect()["errors"]
    assert error["error"].startswith("protocol: telnet encrypts nothing")
