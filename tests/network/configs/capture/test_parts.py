"""Parts of a version: what a device tells beside its configuration, read with it, kept and shown with it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.testing import SimulatedDevice, ios_config
from netautod.transport.ssh.capture.parts import MOST_BYTES
from netautod.transport.ssh.encoding import to_text
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import ApiClient, assert_error

INVENTORY = 'NAME: "1", DESCR: "WS-C3850-24T"\nPID: WS-C3850-24T, VID: V04, SN: FOC1234X0AB\n'
VERSION = "Cisco IOS Software, Version 15.2(4)E10\n\nsw1 uptime is 3 weeks, 2 days\nBase MAC : 00:11\n"
PARTS = ("startup", "inventory", "version", "licenses")


def path(device_id: str, rest: str) -> str:
    return f"/api/config/devices/{device_id}/configs/{rest}"


def switch_with_parts(fleet: Fleet, name: str = "sw1", **options: Any) -> SimulatedDevice:
    switch = fleet.simulated(name, **options)
    running = switch.config
    switch.responses = {
        "show startup-config": running.replace(
            "Building configuration...\n", "Using 4293 out of 524288 bytes\n"
        ),
        "show inventory": INVENTORY,
        "show version": VERSION,
        "show license summary": "Smart Licensing is ENABLED\n  Next Renewal Attempt: Mar 08 2027\n",
    }
    return switch


async def parts_of(fleet: Fleet, device_id: str, version: str = "latest") -> dict[str, Any]:
    listed = (await fleet.api.get(path(device_id, version))).expect()["parts"]
    return {part["name"]: part for part in listed}


async def text_of(api: ApiClient, device_id: str, name: str, version: int = 1, query: str = "") -> str:
    found = (await api.get(path(device_id, f"{version}/parts/{name}{query}"))).expect()
    assert set(found) == {"name", "command", "text"}
    assert found["name"] == name
    return str(found["text"])


async def make_due(fleet: Fleet) -> None:
    """As if the parts had been read two days ago."""
    long_ago = SystemClock().now() - timedelta(days=2)
    await fleet.database.collection("configs").update_many({}, {"$set": {"parts_at": long_ago}})


def part_commands(switch: SimulatedDevice) -> list[str]:
    return [command for command in switch.commands if command in switch.responses]


async def test_parts_are_read_with_the_first_config_and_shown_with_it(fleet: Fleet) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    listed = await parts_of(fleet, device_id)
    assert tuple(listed) == PARTS
    assert listed["inventory"] == {
        "name": "inventory",
        "command": "show inventory",
        "size": len(INVENTORY),
    }
    assert await text_of(fleet.api, device_id, "inventory") == INVENTORY
    assert switch.open_sessions == 0
    assert len(switch.login_attempts) == 1


async def test_noise_is_no_part_of_a_part(fleet: Fleet) -> None:
    device_id = await fleet.device(switch_with_parts(fleet))
    await fleet.pulled(device_id)
    shown = await text_of(fleet.api, device_id, "version")
    assert shown == "Cisco IOS Software, Version 15.2(4)E10\n\nBase MAC : 00:11\n"
    assert await text_of(fleet.api, device_id, "licenses") == "Smart Licensing is ENABLED\n"


async def test_a_saved_config_has_an_empty_difference_and_an_unsaved_one_shows_what_differs(
    fleet: Fleet,
) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    assert (await parts_of(fleet, device_id))["startup"]["size"] == 0
    assert await text_of(fleet.api, device_id, "startup") == ""
    switch.config = ios_config("sw1", community="new-c4nary").replace("description access port 7", "uplink")
    await fleet.pulled(device_id)
    shown = await text_of(fleet.api, device_id, "startup", version=2)
    assert shown.startswith("--- show startup-config\n+++ version 2\n@@ ")
    assert "\n- description access port 7\n+ uplink\n" in shown
    assert "\n-snmp-server community <secret:" in shown
    assert "c4nary" not in shown
    assert "s1mulated" not in shown
    assert (await parts_of(fleet, device_id))["startup"]["size"] > 0
    whole = await text_of(fleet.api, device_id, "startup", version=2, query="?secrets=true")
    assert "\n+snmp-server community new-c4nary" in whole
    (event,) = await fleet.audited("config.read_secrets")
    assert event["details"] == {"device_id": device_id, "version": 2, "part": "startup"}


async def test_parts_make_no_version_and_are_read_again_when_they_are_old(fleet: Fleet) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    switch.commands.clear()
    await fleet.pulled(device_id)
    assert part_commands(switch) == []  # an unchanged config costs no round trip more
    switch.responses["show inventory"] = INVENTORY.replace("FOC1234X0AB", "FOC9999X9ZZ")
    await make_due(fleet)
    again = await fleet.pulled(device_id)
    assert (again["version"], again["changed"]) == (1, False)
    assert part_commands(switch) == list(switch.responses)
    assert "FOC9999X9ZZ" in await text_of(fleet.api, device_id, "inventory")


async def test_a_new_version_has_parts_of_its_own_and_the_one_before_keeps_its(fleet: Fleet) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    switch.config = ios_config("sw1", community="other")
    switch.responses["show inventory"] = INVENTORY.replace("FOC1234X0AB", "FOC9999X9ZZ")
    await fleet.pulled(device_id)
    assert "FOC1234X0AB" in await text_of(fleet.api, device_id, "inventory", version=1)
    assert "FOC9999X9ZZ" in await text_of(fleet.api, device_id, "inventory", version=2)


@pytest.mark.parametrize(
    ("response", "left", "note"),
    [
        pytest.param("% Invalid input detected at '^' marker.\n", 3, "left out", id="a refused one"),
        pytest.param("x" * MOST_BYTES * 2 + "\n", 1, "could not be read (flood)", id="one without an end"),
        pytest.param("sure? [confirm]", 1, "could not be read (prompt)", id="one that asks a question"),
    ],
)
async def test_a_part_never_fails_the_capture(fleet: Fleet, response: str, left: int, note: str) -> None:
    switch = switch_with_parts(fleet)
    if response.endswith("[confirm]"):
        del switch.responses["show inventory"]
        switch.questions = {"show inventory": response}
    else:
        switch.responses["show inventory"] = response
    fleet.sessions.limits = replace(fleet.sessions.limits, quiet_seconds=0.2)
    device_id = await fleet.device(switch)
    taken = await fleet.take(device_id)
    assert taken.changed
    assert [text for text in taken.notes if "part inventory" in text and note in text]
    assert len(await parts_of(fleet, device_id)) == left
    assert "hostname sw1" in (await fleet.api.get(path(device_id, "latest"))).json["config_text"]
    listed = (await fleet.api.get("/api/devices/with-backup-info")).json["devices"]
    assert listed[0]["last_backup_status"] == "success"


async def test_a_part_that_cannot_be_read_now_stays_and_is_not_asked_for_each_time(fleet: Fleet) -> None:
    switch = switch_with_parts(fleet)
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    await make_due(fleet)
    inventory = switch.responses["show inventory"]
    switch.responses["show inventory"] = "x" * MOST_BYTES * 2 + "\n"
    await fleet.pulled(device_id)
    assert tuple(await parts_of(fleet, device_id)) == PARTS
    assert await text_of(fleet.api, device_id, "inventory") == inventory
    switch.commands.clear()
    await fleet.pulled(device_id)
    assert part_commands(switch) == []


async def test_bytes_and_secrets_of_a_part_are_kept_as_those_of_a_config(
    fleet: Fleet, mongo_uri: str
) -> None:
    switch = switch_with_parts(fleet)
    switch.responses["show inventory"] = to_text(b'NAME: "B\xe4rn"\nsnmp-server community c4nary\n')
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    reader = fleet.with_permissions("devices.access")
    assert await text_of(reader, device_id, "inventory") == 'NAME: "Bärn"\nsnmp-server community <hidden>\n'
    assert_error(await reader.get(path(device_id, "1/parts/inventory?secrets=true")), 403)
    assert "c4nary" in await text_of(fleet.api, device_id, "inventory", query="?secrets=true")
    assert b"c4nary" not in await fleet.raw_dump(mongo_uri)
    assert b"WS-C3850" not in await fleet.raw_dump(mongo_uri)


async def test_what_is_not_there_is_404(fleet: Fleet) -> None:
    device_id = await fleet.device(switch_with_parts(fleet))
    await fleet.pulled(device_id)
    for rest, text in (
        ("1/parts/none", "no such part"),
        ("2/parts/inventory", "Config version not found"),
        ("0/parts/inventory", "Config version not found"),
    ):
        assert_error(await fleet.api.get(path(device_id, rest)), 404, text)
    assert_error(await fleet.api.get(path(ABSENT_ID, "1/parts/inventory")), 404, "Device not found")


async def test_versions_of_before_have_no_parts(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1"))
    gone = {"$unset": {"parts": "", "parts_at": ""}}
    await fleet.database.collection("configs").update_many({}, gone)
    assert await parts_of(fleet, device_id) == {}
