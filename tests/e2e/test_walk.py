"""The main job from the login to the diff by the generated client; what else a newcomer does."""

import asyncio
import importlib
import stat
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from netautod.testing import SimulatedDevice, ios_config
from tests.e2e.conftest import EveryMinute, Say
from tests.e2e.console import SCHEDULES, Console
from tests.support.client import assert_error
from tests.support.execution import eventually
from tests.support.programs.generated_client import generated, importable, installed
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


@pytest.fixture(scope="module")
async def walk(service: Service, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    """tests/e2e/generated_walk.py, with the client that is generated from what the service says of itself."""
    folder = tmp_path_factory.mktemp("generated")
    await service.anonymous()
    made = await generated(service.description, folder)
    assert (made.code, made.out.splitlines()) == (0, ["Generating client"]), made.out + made.err
    with importable(await installed(folder)):
        yield importlib.import_module("tests.e2e.generated_walk")


# The first of them generates and installs the client, and starts the service.
@pytest.mark.timeout(300)
async def test_the_generated_client_goes_from_the_credential_to_the_diff(service: Service, walk: Any) -> None:
    first = ios_config("core-1", community="canary-old-community")
    async with (
        SimulatedDevice(hostname="core-1", password="the password", config=first) as switch,
        walk.logged_in(service.url, "admin", service.password) as client,
    ):
        steps = walk.GeneratedWalk(client=client)
        await steps.prepare("core-1", switch.port, "the password")
        run = await steps.run()
        assert (run.state, run.error_message, run.retry_count) == ("completed", None, 0)
        assert (run.output["devices_total"], run.output["changed"], run.output["failed"]) == (1, 1, 0)
        stored = await steps.first_version(run)
        assert (stored.version, stored.device_id, stored.config_format) == (1, steps.device_id, "cli")
        assert "hostname core-1" in stored.config_text
        assert "canary-old-community" not in stored.config_text

        assert (await steps.run()).output["unchanged"] == 1
        assert await steps.versions() == [1]

        switch.config = ios_config("core-1", community="canary-new-community").replace(
            "interface GigabitEthernet1/0/7\n", "interface GigabitEthernet1/0/7\n description to the roof\n"
        )
        assert switch.config.count("to the roof") == 1
        assert (await steps.run()).output["changed"] == 1
        assert await steps.versions() == [2, 1]
        await check_the_diff(steps)
        assert len(switch.login_attempts) == 3
        await steps.notes_and_search()
        await steps.change_the_device()
        await steps.documents()
        await steps.another_user(service.url)
        await steps.end()


async def check_the_diff(steps: Any) -> None:
    diff = await steps.diff()
    assert (diff.old_version, diff.new_version, diff.identical) == (1, 2, False)
    lines = diff.diff.splitlines()
    assert "+ description to the roof" in lines
    assert any(line.startswith("-snmp-server community ") for line in lines)
    assert any(line.startswith("+snmp-server community ") for line in lines)
    assert "canary" not in diff.diff
    assert "canary" not in await steps.config_text(1)
    assert "canary-old-community" in await steps.config_text(1, secrets=True)
    assert b"canary-old-community" in await steps.raw(1)


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
