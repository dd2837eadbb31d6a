"""The main job from the login to the diff, as the README shows it with curl."""

import asyncio
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from netautod.testing import SimulatedDevice, ios_config
from tests.e2e.conftest import EveryMinute, Say
from tests.e2e.console import CONFIGS, EXECUTIONS, SCHEDULES, Console
from tests.support.client import assert_error
from tests.support.execution import eventually
from tests.support.programs.service import Service
from tests.support.programs.sshd import PROGRAM, running_sshd

pytestmark = pytest.mark.slow


async def test_the_first_start_prints_one_block(service: Service, say: Say) -> None:
    say(f"first start to ready: {service.seconds:.1f} s")
    file = service.data_dir / "initial-admin-password"
    assert service.printed == [
        "",
        f"  URL       {service.url}",
        "  User      admin",
        f"  Password  {service.password}",
        f"            (also in {file})",
        "",
        f"netautod ready on {service.url}",
    ]
    assert file.read_text().strip() == service.password
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_health_and_login(service: Service) -> None:
    client = await service.anonymous()
    for path in ("/health", "/api/health"):
        assert (await client.get(path)).json == {"status": "ok"}
    assert_error(await client.get("/api/devices"), 401, "Authentication required")
    wrong = {"username": "admin", "password": "not the password"}
    assert_error(await client.post("/api/auth/login", wrong), 401, "Invalid username or password")
    me = (await (await service.client()).get("/api/auth/me")).json
    assert (me["username"], me["roles"], me["permissions"]) == ("admin", ["admin"], ["*"])


async def test_backups_of_a_switch_from_the_first_version_to_the_diff(console: Console) -> None:
    first = ios_config("core-1", community="canary-old-community")
    async with SimulatedDevice(hostname="core-1", password="the password", config=first) as switch:
        credential = await console.credential("lab", secret="the password")
        device = await console.device("core-1", switch.port, default_credential_id=credential)
        task = await console.backup("nightly", "core-1")

        run = await console.run(task)
        assert (run["state"], run["error_message"], run["retry_count"]) == ("completed", None, 0)
        assert await summary(console, run) == {"total": 1, "failed": 0, "changed": 1, "unchanged": 0}
        stored = await console.latest(device)
        assert (stored["version"], stored["device_id"], stored["config_format"]) == (1, device, "cli")
        assert "hostname core-1" in stored["config_text"]
        assert "canary-old-community" not in stored["config_text"]

        assert (await console.run(task))["output"]["unchanged"] == 1
        assert await console.versions(device) == [1]

        switch.config = ios_config("core-1", community="canary-new-community").replace(
            "interface GigabitEthernet1/0/7\n", "interface GigabitEthernet1/0/7\n description to the roof\n"
        )
        assert switch.config.count("to the roof") == 1
        assert (await console.run(task))["output"]["changed"] == 1
        assert await console.versions(device) == [2, 1]
        await check_the_diff(console, device)
        assert len(switch.login_attempts) == 3


async def summary(console: Console, run: dict[str, Any]) -> dict[str, int]:
    output = run["output"]
    [result] = (await console.read(f"{EXECUTIONS}/{run['id']}/results"))["results"]
    assert result == output["results"][0]
    assert (result["success"], result["version"], result["error_kind"]) == (True, 1, None)
    assert (await console.log_texts(run["id"]))[0] == "attempt 1 started"
    return {
        "total": output["devices_total"],
        "failed": output["failed"],
        "changed": output["changed"],
        "unchanged": output["unchanged"],
    }


async def check_the_diff(console: Console, device: str) -> None:
    diff = await console.read(f"{CONFIGS}/{device}/diff")
    assert (diff["old_version"], diff["new_version"], diff["identical"]) == (1, 2, False)
    lines = diff["diff"].splitlines()
    assert "+ description to the roof" in lines
    assert any(line.startswith("-snmp-server community ") for line in lines)
    assert any(line.startswith("+snmp-server community ") for line in lines)
    assert "canary" not in diff["diff"]
    old = await console.read(f"{CONFIGS}/{device}/configs/1")
    assert "canary" not in old["config_text"]
    shown = await console.read(f"{CONFIGS}/{device}/configs/1?secrets=true")
    assert "canary-old-community" in shown["config_text"]


@pytest.mark.skipif(PROGRAM is None, reason="no sshd (apt package openssh-server)")
async def test_a_backup_of_a_linux_host_with_a_key(console: Console, tmp_path: Path) -> None:
    async with running_sshd(tmp_path) as sshd:
        credential = await console.credential(
            "key", credential_type="ssh_key", username=sshd.username, secret=sshd.private_key
        )
        device = await console.device(
            "host-1", sshd.port, device_type="linux", default_credential_id=credential
        )
        run = await console.run(await console.backup("linux", "host-1"))
    assert (run["state"], run["error_message"]) == ("completed", None)
    stored = await console.latest(device)
    hostname = await asyncio.to_thread(Path("/etc/hostname").read_text)
    assert f"### file /etc/hostname\n{hostname.strip()}\n" in stored["config_text"]
    assert (await console.read(f"/api/devices/{device}"))["host_key_fingerprint"] == sshd.fingerprint


@pytest.mark.parametrize(
    ("task_type", "fields", "text"),
    [
        ("deployment", {}, "deployment is not yet implemented"),
        ("health_check", {}, "health_check is not yet implemented"),
        ("custom_script", {}, "custom_script is not yet implemented"),
        ("agent_task", {"parameters": {"prompt": "look around"}}, "no model back end is configured"),
    ],
)
async def test_types_without_an_executor_fail_without_a_retry(
    console: Console, task_type: str, fields: dict[str, Any], text: str
) -> None:
    task = await console.task(task_type, task_type, **fields)
    run = await console.run(task)
    assert (run["state"], run["error_message"], run["retry_count"]) == ("failed", text, 0)
    assert run["completed_at"] is not None


async def test_a_filter_that_matches_nothing(console: Console) -> None:
    run = await console.run(await console.backup("nobody", "no such site"))
    assert (run["state"], run["output"]["devices_total"]) == ("completed", 0)


TASK = {"name": "bad", "task_type": "backup", "cron_expression": "0 3 * * *"}
DEVICE = {"name": "bad", "host": "192.0.2.1", "device_type": "linux"}
CREDENTIAL = {"name": "bad", "credential_type": "ssh_password", "username": "u", "secret": "s"}


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        pytest.param("/api/auth/login", b'{"username": "a", ', "JSON", id="a login that is no JSON"),
        pytest.param("/api/auth/login", b"[]", "must be a JSON object", id="a login that is a list"),
        pytest.param("/api/auth/login", {"username": "a"}, "password", id="a login without a password"),
        pytest.param(SCHEDULES, b"\xff", "JSON", id="a task that is no text"),
        pytest.param(SCHEDULES, {}, "name", id="an empty task"),
        pytest.param(SCHEDULES, {**TASK, "name": 7}, "name", id="a task with a number for a name"),
        pytest.param(SCHEDULES, {**TASK, "task_type": "reboot"}, "task_type", id="an unknown task type"),
        pytest.param(SCHEDULES, {**TASK, "cron_expression": "61 * * * *"}, "cron_expression", id="bad cron"),
        pytest.param(SCHEDULES, {**TASK, "timezone": "Mars/Base"}, "timezone", id="a bad timezone"),
        pytest.param(SCHEDULES, {**TASK, "colour": "red"}, "colour", id="an unknown field"),
        pytest.param("/api/devices", {"name": "x"}, "host", id="a device without a host"),
        pytest.param("/api/devices", {**DEVICE, "port": "22"}, "port", id="a device with a text for a port"),
        pytest.param("/api/devices", {**DEVICE, "host": "a b"}, "host", id="a device with a bad host"),
        pytest.param(
            "/api/credentials",
            {**CREDENTIAL, "credential_type": "magic"},
            "credential_type",
            id="an unknown credential type",
        ),
        pytest.param(
            "/api/users", {"username": "x", "roles": []}, "password", id="a user without a password"
        ),
    ],
)
async def test_bad_input_is_refused_with_a_sentence_that_names_the_field(
    console: Console, path: str, body: Any, text: str
) -> None:
    raw = body if isinstance(body, bytes) else None
    assert_error(await console.client.post(path, None if raw else body, raw=raw), 400, text)


async def test_a_task_fires_at_the_next_minute_by_itself(console: Console, every_minute: EveryMinute) -> None:
    path = f"{SCHEDULES}/{every_minute.task_id}/executions"

    async def fired() -> Any:
        return (await console.read(path))["executions"]

    first = (await eventually(fired, seconds=65))[-1]
    run = await console.ended(first["id"])
    task = await console.read(f"{SCHEDULES}/{every_minute.task_id}")
    assert (run["triggered_by"], run["state"], run["output"]["succeeded"]) == ("schedule", "completed", 1)
    scheduled, started = (datetime.fromisoformat(run[name]) for name in ("scheduled_for", "started_at"))
    assert (scheduled.second, scheduled.microsecond) == (0, 0)
    assert (started - scheduled).total_seconds() < 5
    assert datetime.fromisoformat(task["next_run_at"]) > scheduled
    assert task["last_run_at"] is not None
    assert await console.versions(every_minute.device_id) == [1]
