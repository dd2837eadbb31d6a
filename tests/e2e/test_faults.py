"""Devices that refuse or are away, and a service that is killed, stopped or started twice."""

import os
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from netautod.store.embedded.mongod import find_running
from netautod.testing import Faults, SimulatedDevice
from tests.e2e.conftest import Say
from tests.e2e.console import EXECUTIONS, Console
from tests.support.execution import eventually
from tests.support.programs.service import QUICK_LEASES, Service, run, serving
from tests.support.programs.started import free_port

pytestmark = pytest.mark.slow

SHOW_RUN = "show running-config"
# About 20 s for a config of 4 KB: certainly still under way when the service dies.
SLOW = Faults(slow=0.2)


async def test_a_wrong_device_password_costs_one_login(console: Console) -> None:
    async with SimulatedDevice(hostname="strict", password="right") as switch:
        credential = await console.credential("wrong", secret="canary-wrong-password")
        await console.device("strict", switch.port, default_credential_id=credential)
        ended = await console.run(await console.backup("strict", "strict", max_retries=3))
        assert [attempt.accepted for attempt in switch.login_attempts] == [False]
    assert (ended["state"], ended["retry_count"]) == ("failed", 0)
    assert ended["error_message"] == "1 of 1 devices failed"
    [result] = ended["output"]["results"]
    assert (result["success"], result["error_kind"], result["version"]) == (False, "auth", None)
    assert "canary" not in str(ended)


async def test_an_unreachable_device_is_retried_and_the_others_are_stored(console: Console) -> None:
    async with SimulatedDevice(hostname="present") as switch:
        credential = await console.credential("retried")
        options = {"default_credential_id": credential, "site": "retried"}
        present = await console.device("present", switch.port, **options)
        absent = await console.device("absent", free_port(), **options)
        task = await console.backup("retried", "retried", max_retries=2, retry_delay_seconds=1)
        ended = await console.run(task)
        assert len(switch.login_attempts) == 1
    assert (ended["state"], ended["retry_count"]) == ("failed", 2)
    assert ended["error_message"] == "1 of 2 devices failed"
    output = ended["output"]
    assert (output["devices_total"], output["succeeded"], output["failed"]) == (2, 1, 1)
    kinds = {result["device_id"]: result["error_kind"] for result in output["results"]}
    assert kinds == {present: None, absent: "refused"}
    assert pauses(ended) == [True, True]
    assert await console.versions(present) == [1]
    assert await console.versions(absent) == []


def pauses(ended: dict[str, Any]) -> list[bool]:
    """Whether each retry began a second (less the clock's grain) after the attempt before it."""
    attempts = ended["attempts"]
    assert [attempt["number"] for attempt in attempts] == [1, 2, 3]
    gaps = [
        datetime.fromisoformat(later["started_at"]) - datetime.fromisoformat(before["completed_at"])
        for before, later in pairwise(attempts)
    ]
    return [gap.total_seconds() > 0.99 for gap in gaps]


async def test_a_service_killed_in_the_middle_of_a_backup(tmp_path: Path, say: Say) -> None:
    data_dir = tmp_path / "data"
    async with SimulatedDevice(hostname="quick") as quick, SimulatedDevice(hostname="slow") as slow:
        async with serving(data_dir, variables=QUICK_LEASES) as service:
            console = Console(client=await service.client())
            credential = await console.credential("lab")
            device = await console.device("quick", quick.port, default_credential_id=credential)
            await console.run(await console.backup("quick", "quick"))
            before = await console.latest(device)
            slow.faults = SLOW
            await console.device("slow", slow.port, default_credential_id=credential)
            task = await console.backup("slow", "slow", max_retries=1)
            interrupted = await console.start(task)
            await slow.wait_until(lambda seen: SHOW_RUN in seen.commands, seconds=20)
            waiting = await console.start(task)
            database = mongod_of(data_dir)
            await service.kill()
        await slow.wait_until(lambda seen: seen.open_connections == 0)
        slow.faults = Faults()
        await eventually(lambda: has_ended(database))
        async with serving(data_dir, variables=QUICK_LEASES) as service:
            say(f"start to ready with an existing data directory, after kill -9: {service.seconds:.1f} s")
            console = Console(client=await service.client())
            assert await console.latest(device) == before
            done = await console.ended(interrupted)
            assert (done["state"], done["retry_count"]) == ("completed", 1)
            assert [attempt["outcome"] for attempt in done["attempts"]] == ["lost", "completed"]
            assert (await console.ended(waiting))["state"] == "completed"
            assert (await console.read(f"{EXECUTIONS}?state=running"))["total"] == 0


def mongod_of(data_dir: Path) -> int:
    return int((data_dir / "mongodb" / "mongod.lock").read_text())


async def has_ended(pid: int) -> bool:
    return gone(pid)


def gone(pid: int) -> bool:
    """Whether the process ended; it may still wait for its parent to look (proc(5), states Z and X)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


async def test_sigterm_hands_a_long_run_back_within_the_drain_time(tmp_path: Path, say: Say) -> None:
    data_dir = tmp_path / "data"
    drain = {**QUICK_LEASES, "NETAUTOD_SERVER_DRAIN_SECONDS": "1"}
    async with SimulatedDevice(hostname="long") as switch:
        async with serving(data_dir, variables=drain) as service:
            console = Console(client=await service.client())
            credential = await console.credential("lab")
            switch.faults = SLOW
            device = await console.device("long", switch.port, default_credential_id=credential)
            handed_back = await console.start(await console.backup("long", "long"))
            await switch.wait_until(lambda seen: SHOW_RUN in seen.commands, seconds=20)
            assert await service.stop(seconds=10) == 0
            assert find_running(data_dir) is None
        assert switch.open_connections == 0
        switch.faults = Faults()
        async with serving(data_dir, variables=drain) as service:
            say(f"start to ready with an existing data directory: {service.seconds:.1f} s")
            assert [line for line in service.printed if "Password" in line] == []
            console = Console(client=await service.client())
            ended = await console.ended(handed_back)
            assert (ended["state"], ended["retry_count"]) == ("completed", 0)
            assert [attempt["outcome"] for attempt in ended["attempts"]] == ["returned", "completed"]
            assert await console.versions(device) == [1]


async def test_sigterm_lets_a_short_run_finish(tmp_path: Path) -> None:
    async with SimulatedDevice(hostname="short") as switch:
        async with serving(tmp_path / "data") as service:
            console = Console(client=await service.client())
            credential = await console.credential("lab")
            switch.latency = 0.5
            device = await console.device("short", switch.port, default_credential_id=credential)
            short = await console.start(await console.backup("short", "short"))
            await switch.wait_until(lambda seen: len(seen.commands) > 0, seconds=20)
            assert await service.stop() == 0
        log = (tmp_path / "data" / "service.log").read_text()
        assert "handed back" not in log
        assert "Traceback" not in log
    async with serving(tmp_path / "data") as service:
        console = Console(client=await service.client())
        ended = await console.ended(short)
        assert [attempt["outcome"] for attempt in ended["attempts"]] == ["completed"]
        assert await console.versions(device) == [1]


async def test_a_second_service_on_the_data_directory_refuses(service: Service) -> None:
    second = await run("serve", "--port", "0", "--data-dir", str(service.data_dir))
    assert (second.code, second.out) == (1, "")
    last = second.err.splitlines()[-1]
    assert last.startswith("netautod: ")
    assert str(service.data_dir) in last
    assert "Traceback" not in second.err
    assert (await (await service.anonymous()).get("/health")).status == 200


async def test_a_taken_port_is_one_line(service: Service, tmp_path: Path) -> None:
    port = service.url.rpartition(":")[2]
    second = await run("serve", "--port", port, "--data-dir", str(tmp_path))
    assert (second.code, second.out) == (1, "")
    assert second.err == f"netautod: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "uri", ["mongodb://127.0.0.1:1/?directConnection=true", "mongodb://127.0.0.1:nonsense/"]
)
async def test_a_database_that_is_not_there_is_one_line(tmp_path: Path, uri: str) -> None:
    variables = {"NETAUTOD_MONGODB_TIMEOUT_SECONDS": "0.5", "NETAUTOD_MONGODB_URI": uri}
    refused = await run("serve", "--port", "0", "--data-dir", str(tmp_path), variables=variables)
    assert refused.code in (1, 2)
    assert refused.err.splitlines()[-1].startswith("netautod: ")
    assert "NETAUTOD_MONGODB_URI" in refused.err
    assert "Traceback" not in refused.err
