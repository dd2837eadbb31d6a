"""Tests of logins over the API: one device, many devices, and what a message says."""

from typing import Any

import pytest

from netautod.network.devices.sessions.login_limits import MOST_REFUSALS
from netautod.testing import Faults
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error

BULK = "/api/devices/bulk/test-credentials"


async def test_a_success_says_so_and_pins_the_key(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    answer = await fleet.tested(device_id)
    assert answer.pop("duration_ms") >= 0
    assert answer == {
        "device_id": device_id,
        "device_name": "sw1",
        "host": "127.0.0.1",
        "port": switch.port,
        "credential_id": fleet.credential_id,
        "success": True,
        "message": "login succeeded",
    }
    device = (await fleet.api.get(f"/api/devices/{device_id}")).json
    assert device["host_key_fingerprint"] == switch.fingerprint
    (event,) = await fleet.audited("device.test_credential")
    assert event["details"] == {"success": True, "credential_id": fleet.credential_id}


@pytest.mark.parametrize(
    ("options", "fields", "message"),
    [
        pytest.param({"password": "another"}, {}, "login failed: ", id="a wrong password"),
        pytest.param({}, {"host": "no-such-host.invalid"}, "name lookup failed: ", id="no such name"),
        pytest.param({}, {"port": 1}, "connection failed: ", id="nothing listens there"),
        pytest.param({"algorithms": "legacy"}, {}, "key exchange failed: ", id="old algorithms only"),
        pytest.param(
            {"faults": Faults(silent=True)}, {}, "no prompt after the login: ", id="no prompt comes"
        ),
        pytest.param(
            {}, {"connect_commands": ["show nothing"]}, "connect command failed: ", id="a bad connect command"
        ),
    ],
)
async def test_a_message_names_the_stage_that_failed(
    fleet: Fleet, options: dict[str, Any], fields: dict[str, Any], message: str
) -> None:
    device_id = await fleet.device(fleet.simulated(**options))
    await fleet.api.put(f"/api/devices/{device_id}", fields)
    fleet.sessions.limits = fleet.quick_limits
    answer = await fleet.tested(device_id)
    assert answer["success"] is False
    assert answer["message"].startswith(message)


async def test_a_wrong_enable_secret_is_not_a_success(fleet: Fleet) -> None:
    wrong = await fleet.credential("wrong", enable_secret="not-it")
    switch = fleet.simulated(enable_password="enable-pa55word")
    device_id = await fleet.device(switch, default_credential_id=wrong)
    fleet.sessions.limits = fleet.quick_limits
    assert (await fleet.tested(device_id))["message"].startswith("enable failed: ")


async def test_a_test_ends_after_its_seconds(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated(faults=Faults(silent=True)))
    answer = await fleet.tested(device_id, timeout_seconds=1)
    assert answer["message"] == "timeout: not finished within 1 s"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        pytest.param("{id}", {"credential_id": "7"}, "credential_id", id="no id of a credential"),
        pytest.param("{id}", {"timeout_seconds": "5"}, "timeout_seconds", id="seconds as text"),
        pytest.param("{id}", {"device_ids": []}, "device_ids", id="ids for a single test"),
        pytest.param("bulk", {"device_ids": ["7"]}, "device_ids", id="no id of a device"),
        pytest.param("bulk", {"device_ids": ABSENT_ID}, "device_ids", id="one id, not an array"),
        pytest.param("bulk", {"timeout_seconds": 1.5}, "timeout_seconds", id="half seconds"),
        pytest.param("bulk", {"credential_id": ABSENT_ID}, "credential_id", id="a credential for all"),
    ],
)
async def test_bad_input_names_its_field(fleet: Fleet, path: str, body: dict[str, Any], field: str) -> None:
    found = BULK if path == "bulk" else f"/api/devices/{ABSENT_ID}/test-credential"
    assert_error(await fleet.api.post(found, body), 400, field)


async def test_who_may_name_another_credential(fleet: Fleet) -> None:
    switch = fleet.simulated()
    own, other = await fleet.credential("own"), await fleet.credential("other")
    device_id = await fleet.device(switch, default_credential_id=own)
    path = f"/api/devices/{device_id}/test-credential"
    reader = fleet.with_permissions("devices.access")
    assert (await reader.post(path)).json["credential_id"] == own
    assert (await reader.post(path, {"credential_id": own})).json["success"] is True
    assert_error(await reader.post(path, {"credential_id": other}), 403)
    assert (await fleet.api.post(path, {"credential_id": other})).json["credential_id"] == other
    assert_error(await fleet.api.post(path, {"credential_id": ABSENT_ID}), 400, "no such credential")
    assert_error(await fleet.served.client("*")[0].post(path), 404, "Device not found")
    assert len(switch.login_attempts) == 3


async def test_many_devices_are_tested_in_the_order_of_their_ids(fleet: Fleet) -> None:
    good = await fleet.device(fleet.simulated("good"))
    bad = await fleet.device(fleet.simulated("bad", password="another"))
    dead = await fleet.entry("dead", 1)
    answer = await fleet.posted(BULK, device_ids=[dead, ABSENT_ID, bad.upper(), good, dead])
    assert (answer["total"], answer["succeeded"], answer["failed"]) == (4, 1, 3)
    assert [entry["device_id"] for entry in answer["results"]] == [dead, ABSENT_ID, bad, good]
    assert [entry["success"] for entry in answer["results"]] == [False, False, False, True]
    absent = answer["results"][1]
    assert (absent["message"], absent["device_name"]) == ("Device not found", None)
    (event,) = await fleet.audited("device.bulk_test_credentials")
    assert (event["details"]["total"], event["details"]["succeeded"]) == (4, 1)


async def test_without_ids_every_device_of_the_organization_is_tested(fleet: Fleet) -> None:
    ids = [await fleet.device(fleet.simulated(f"sw{number}")) for number in range(3)]
    foreign = fleet.served.client("*")[0]
    await foreign.post("/api/devices", {"name": "theirs", "host": "127.0.0.1", "device_type": "linux"})
    answer = await fleet.posted(BULK)
    assert sorted(entry["device_id"] for entry in answer["results"]) == sorted(ids)
    assert answer["succeeded"] == 3
    assert (await fleet.posted(BULK, device_ids=None))["total"] == 3
    assert (await fleet.posted(BULK, device_ids=[]))["total"] == 0


async def test_a_device_of_another_organization_is_not_found(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    answer = (await fleet.served.client("*")[0].post(BULK, {"device_ids": [device_id]})).json
    assert [entry["message"] for entry in answer["results"]] == ["Device not found"]
    assert switch.login_attempts == []


async def test_a_wrong_password_leaves_the_house_five_times(fleet: Fleet) -> None:
    switches = [fleet.simulated(f"sw{number}", password="another") for number in range(12)]
    for switch in switches:
        await fleet.device(switch)
    answer = await fleet.posted(BULK)
    assert answer["failed"] == 12
    assert sum(len(switch.login_attempts) for switch in switches) == MOST_REFUSALS
    messages = [entry["message"] for entry in answer["results"]]
    assert sum("5 logins in a row were refused" in message for message in messages) == 12 - MOST_REFUSALS


async def test_a_slow_device_of_a_bulk_test_has_its_own_seconds(fleet: Fleet) -> None:
    await fleet.device(fleet.simulated("mute", faults=Faults(silent=True)))
    await fleet.device(fleet.simulated("good"))
    answer = await fleet.posted(BULK, timeout_seconds=1)
    messages = {entry["device_name"]: entry["message"] for entry in answer["results"]}
    assert messages == {"good": "login succeeded", "mute": "timeout: not finished within 1 s"}
