"""POST /api/devices/:id/exec-command: output, clamps, misbehaving devices, and the trace that it leaves."""

import asyncio
from typing import Any

import pytest

from netautod.core.schema.bases import load
from netautod.network.devices.operations.commands import CUT, OUTPUT_BYTES
from netautod.network.devices.operations.handlers import ExecCommandHandler
from netautod.network.devices.operations.schemas import CommandRequest
from netautod.testing import Faults
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error

VERSION = "show version"


async def test_a_command_answers_what_the_device_printed(fleet: Fleet) -> None:
    switch = fleet.simulated(responses={"show clock": "06:44:12 UTC\n"})
    device_id = await fleet.device(switch)
    answer = await fleet.ran(device_id, "show clock")
    took = answer.pop("execution_time_ms")
    assert answer == {"success": True, "output": "06:44:12 UTC", "error": None}
    assert 0 < took < 5000
    await switch.wait_until(lambda device: device.open_connections == 0)
    (event,) = await fleet.audited("device.exec_command")
    assert event["resource_id"] == device_id
    assert event["actor_id"] == fleet.caller.user_id
    assert event["details"] == {
        "command": "show clock",
        "outcome": "success",
        "credential_id": fleet.credential_id,
        "duration_ms": took,
    }


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        pytest.param({}, 30, id="30 by default"),
        pytest.param({"timeout_secs": None}, 30, id="null counts as absent"),
        pytest.param({"timeout_secs": 0}, 1, id="0 is raised to 1"),
        pytest.param({"timeout_secs": -5}, 1, id="a negative one too"),
        pytest.param({"timeout_secs": 9999}, 300, id="9999 is lowered to 300"),
        pytest.param({"timeout_secs": 300}, 300, id="300 stays"),
    ],
)
def test_the_timeout_is_clamped(sent: dict[str, Any], taken: int) -> None:
    assert load(CommandRequest(), {"command": VERSION, **sent})["timeout_secs"] == taken


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "command", id="no command"),
        pytest.param({"command": "  "}, "command", id="a blank one"),
        pytest.param({"command": 7}, "command", id="a number as command"),
        pytest.param({"command": ["show version"]}, "command", id="an array of commands"),
        pytest.param({"command": "show version\nreload"}, "command", id="a line break"),
        pytest.param({"command": "show version\rreload"}, "command", id="a carriage return"),
        pytest.param({"command": "show version\x03"}, "command", id="a control character"),
        pytest.param({"command": "show version\u2028reload"}, "command", id="a line separator of Unicode"),
        pytest.param({"command": "x" * 4097}, "command", id="4097 characters"),
        pytest.param({"command": VERSION, "timeout_secs": "30"}, "timeout_secs", id="seconds as text"),
        pytest.param({"command": VERSION, "timeout_secs": 1.5}, "timeout_secs", id="half seconds"),
        pytest.param({"command": VERSION, "timeout_secs": True}, "timeout_secs", id="true as seconds"),
        pytest.param({"command": VERSION, "timeout": 30}, "timeout", id="an unknown field"),
    ],
)
async def test_bad_input_names_its_field(fleet: Fleet, body: dict[str, Any], field: str) -> None:
    assert_error(await fleet.api.post(f"/api/devices/{ABSENT_ID}/exec-command", body), 400, field)


async def test_who_may_not_or_cannot_see_the_device(fleet: Fleet) -> None:
    switch = fleet.simulated()
    path = f"/api/devices/{await fleet.device(switch)}/exec-command"
    body = {"command": VERSION}
    assert_error(await fleet.with_permissions("devices.access").post(path, body), 403)
    assert_error(await fleet.served.client("*")[0].post(path, body), 404, "Device not found")
    assert_error(await fleet.api.post(f"/api/devices/{ABSENT_ID}/exec-command", body), 404)
    assert_error(await fleet.api.post("/api/devices/7/exec-command", body), 404)
    assert switch.login_attempts == []


@pytest.mark.parametrize(
    ("faults", "kind", "printed"),
    [
        pytest.param(Faults(flood=True), "flood", "Cisco IOS Software", id="output without end"),
        pytest.param(Faults(stop_after=9), "timeout", "Cisco IOS", id="silence in the middle"),
        pytest.param(Faults(silent=True), "prompt", "", id="no prompt after the login"),
        pytest.param(Faults(disconnect_after=9), "lost", "Cisco IOS", id="a drop in the middle"),
        pytest.param(Faults(refuse_logins=True), "auth", "", id="a refused login"),
        pytest.param(
            Faults(question="Your password has expired.\nNew password: "),
            "prompt",
            "",
            id="a password to be changed",
        ),
    ],
)
async def test_a_failing_device_is_a_result_that_names_the_kind(
    fleet: Fleet, faults: Faults, kind: str, printed: str
) -> None:
    switch = fleet.simulated(faults=faults)
    device_id = await fleet.device(switch)
    fleet.sessions.limits = fleet.quick_limits
    answer = await fleet.ran(device_id, VERSION, timeout_secs=3 if kind == "timeout" else 60)
    assert answer["success"] is False
    assert answer["error"].startswith(f"{kind}: ")
    assert answer["output"].startswith(printed)
    assert len(answer["output"].encode()) <= OUTPUT_BYTES
    assert answer["output"].endswith(CUT) == (kind == "flood")
    assert kind != "timeout" or answer["execution_time_ms"] < 3500
    await switch.wait_until(lambda device: device.open_connections == 0)
    (event,) = await fleet.audited("device.exec_command")
    assert event["details"]["outcome"] == kind


@pytest.mark.parametrize(
    ("command", "question"),
    [
        pytest.param("reload", "Proceed with reload? [confirm]", id="a confirmation"),
        pytest.param("copy run start", "Destination filename [startup-config]? ", id="a file name"),
        pytest.param("enable 7", "Password: ", id="a password"),
        pytest.param("erase nvram:", "Continue? [yes/no]: ", id="yes or no"),
    ],
)
async def test_a_question_is_answered_by_nobody(fleet: Fleet, command: str, question: str) -> None:
    switch = fleet.simulated(questions={command: question})
    device_id = await fleet.device(switch)
    fleet.sessions.limits = fleet.quick_limits
    answer = await fleet.ran(device_id, command)
    assert answer["success"] is False
    assert answer["error"].startswith("prompt: ")
    assert question.strip() in answer["error"]
    await switch.wait_until(lambda device: device.open_connections == 0)
    assert switch.answers == []


async def test_output_over_a_mebibyte_is_cut_and_marked(fleet: Fleet) -> None:
    long = "".join(f"line {number}\n" for number in range(150_000))
    device_id = await fleet.device(fleet.simulated(responses={"show tech": long}))
    answer = await fleet.ran(device_id, "show tech")
    assert (answer["success"], answer["error"][:6]) == (False, "flood:")
    assert long.startswith(answer["output"].removesuffix(CUT))
    assert 0.8 * OUTPUT_BYTES < len(answer["output"]) <= OUTPUT_BYTES


async def test_a_refused_command_is_a_failure_with_its_output(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    answer = await fleet.ran(device_id, "show nothing")
    assert answer["error"] == "refused_command: % Invalid input detected at '^' marker."
    assert "% Invalid input" in answer["output"]


async def test_a_linux_host_tells_its_exit_status(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated("host", platform="linux"))
    assert (await fleet.ran(device_id, "uname -srm"))["success"] is True
    answer = await fleet.ran(device_id, "frobnicate")
    assert (answer["success"], answer["error"]) == (False, "refused_command: exit status 127")


async def test_a_prompt_of_200_characters(fleet: Fleet) -> None:
    switch = fleet.simulated(prompt="p" * 200, responses={"show clock": "06:44:12 UTC\n"})
    assert (await fleet.ran(await fleet.device(switch), "show clock"))["output"] == "06:44:12 UTC"


async def test_a_secret_in_a_command_is_in_no_event_and_in_no_error(fleet: Fleet, mongo_uri: str) -> None:
    switch = fleet.simulated(faults=Faults(stop_after=5))
    device_id = await fleet.device(switch)
    answer = await fleet.ran(device_id, "enable secret hunter2hunter2", timeout_secs=1)
    assert "enable secret <hidden>" in answer["error"]
    assert "hunter2hunter2" not in answer["error"]
    (event,) = await fleet.audited("device.exec_command")
    assert event["details"]["command"] == "enable secret <hidden>"
    (use,) = await fleet.audited("credential.use")
    assert use["details"] == {"device_id": device_id, "command": "enable secret <hidden>"}
    assert b"hunter2hunter2" not in await fleet.raw_dump(mongo_uri)


async def test_a_client_that_goes_away_takes_its_session_with_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    handled = asyncio.Event()
    monkeypatch.setattr(ExecCommandHandler, "on_finish", lambda handler: handled.set())
    switch = fleet.simulated(faults=Faults(stop_after=5))
    device_id = await fleet.device(switch)
    client = await fleet.unread(
        f"/api/devices/{device_id}/exec-command", command="show version", timeout_secs=300
    )
    await switch.wait_until(lambda device: "show version" in device.commands)
    client.close()
    async with asyncio.timeout(60):
        await handled.wait()
    await switch.wait_until(lambda device: device.open_connections == 0)
    (event,) = await fleet.audited("device.exec_command")
    assert event["details"] == {"command": "show version", "outcome": "cancelled"}
    assert await fleet.database.collection("leases").find({}) == []
