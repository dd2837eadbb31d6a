"""Agents with counterparts of others' making, aimock for the model and sshd for the device; on a schedule,
and on two nodes.
"""

import json
import shutil
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from netautod.store.client import Database
from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.fetching import fetch_found
from tests.support.programs.npm import NODE, installed
from tests.support.programs.service import serving
from tests.support.programs.sshd import PROGRAM, running_sshd
from tests.support.programs.started import free_port, started
from tests.support.servers.model_server import Call, model_server

pytestmark = pytest.mark.slow

AGENTS = "/api/tasks/agent-schedules"
EXECUTIONS = "/api/tasks/executions"
AIMOCK = "1.43.0"
VLANS = "VLAN Name   Status    Ports\n10   users  active    Gi1/0/1\n"
CHANGE = {"device": "sw1", "lines": ["ntp server 192.0.2.9"], "save": True}


@dataclass(frozen=True, kw_only=True)
class Aimock:
    url: str

    @property
    def variables(self) -> dict[str, str]:
        return {
            "NETAUTOD_AGENT_BASE_URL": f"{self.url}/v1",
            "NETAUTOD_AGENT_MODEL": "mocked",
            "NETAUTOD_AGENT_API_KEY": "a-key",
            "NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1",
        }

    async def journal(self) -> list[dict[str, Any]]:
        """What it has received, and answered to each."""
        answer = await fetch_found(f"{self.url}/__aimock/journal")
        found: list[dict[str, Any]] = json.loads(answer.body)
        return found


@asynccontextmanager
async def aimock(folder: Path, fixtures: Sequence[dict[str, Any]]) -> AsyncIterator[Aimock]:
    package = await installed("@copilotkit/aimock", AIMOCK)
    assert NODE is not None
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}))
    port = free_port()
    command = (NODE, str(package / "dist" / "cli.js"), "-p", str(port), "-f", str(folder))
    async with started(*command, stdout=PIPE) as process:
        assert process.stdout is not None
        async for line in process.stdout:
            if b"listening" in line:
                break
        yield Aimock(url=f"http://127.0.0.1:{port}")


def calls(*asked: tuple[str, str]) -> dict[str, Any]:
    return {"toolCalls": [{"name": name, "arguments": arguments} for name, arguments in asked]}


FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"turnIndex": 0, "sequenceIndex": 0},
        "response": {"error": {"message": "slow down"}, "status": 429, "retryAfter": 1},
    },
    {
        "match": {"turnIndex": 0},
        "response": calls(
            ("list_devices", "{}"),
            ("run_command", json.dumps({"device": "sw1", "command": "sh vlan brief"})),
            ("run_command", "{not json"),
            ("run_command", json.dumps({"device": "sw1", "command": "reload"})),
        ),
    },
    {
        "match": {"turnIndex": 1, "sequenceIndex": 0},
        "response": {"error": {"message": "oh"}, "status": 500},
    },
    {"match": {"turnIndex": 1}, "response": {"content": "VLAN 10 is users."}},
]


async def test_a_run_with_aimock(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    async with (
        aimock(tmp_path_factory.mktemp("model"), FIXTURES) as model,
        SimulatedDevice(hostname="sw1") as switch,
        serving(tmp_path / "data", variables=model.variables) as service,
    ):
        switch.responses["show vlan brief"] = VLANS
        console = Console(client=await service.client())
        await console.credential("lab", is_default=True)
        await console.device("sw1", switch.port)
        made = await console.add(AGENTS, name="a", prompt="Look.", cron_expression="0 0 1 1 *")
        begun = (await console.client.post(f"{AGENTS}/{made['id']}/run")).expect(202)
        ended = await console.ended(begun["id"])
        assert (ended["state"], ended["error_message"]) == ("completed", None)
        assert ended["output"]["answer"] == "VLAN 10 is users."
        assert (ended["output"]["usage"]["turns"], ended["output"]["usage"]["tool_calls"]) == (2, 4)
        assert "show vlan brief" in switch.commands
        assert "reload" not in switch.commands
        journal = await model.journal()
    assert [one["response"]["status"] for one in journal] == [429, 200, 500, 200]
    told = [one["content"] for one in journal[-1]["body"]["messages"] if one["role"] == "tool"]
    assert len(told) == 4
    assert "10   users" in told[1]
    assert "not valid JSON" in told[2]
    assert "the command is not allowed" in told[3]


@pytest.mark.skipif(PROGRAM is None, reason="no sshd (apt package openssh-server)")
async def test_a_run_on_a_real_host(tmp_path: Path) -> None:
    ssh = tmp_path / "sshd"
    ssh.mkdir()
    asked = [Call("run_command", {"device": "host-1", "command": "uname -s"})]
    refused = [Call("run_command", {"device": "host-1", "command": "uname -s; touch /tmp/x"})]
    async with (
        model_server(asked, refused) as model,
        running_sshd(ssh) as sshd,
        serving(tmp_path / "data", variables=model.variables) as service,
    ):
        console = Console(client=await service.client())
        credential = await console.credential(
            "key", credential_type="ssh_key", username=sshd.username, secret=sshd.private_key
        )
        await console.device("host-1", sshd.port, device_type="linux", default_credential_id=credential)
        made = await console.add(AGENTS, name="a", prompt="Look.", cron_expression="0 0 1 1 *")
        begun = (await console.client.post(f"{AGENTS}/{made['id']}/run")).expect(202)
        ended = await console.ended(begun["id"])
        results = model.results()
    assert (ended["state"], ended["error_message"]) == ("completed", None)
    assert "Linux" in results["call_1_0"]
    assert "the command is not allowed" in results["call_2_0"]


async def test_what_is_scheduled_asks_on_one_node_and_is_approved_on_another(
    tmp_path: Path, mongo_uri: str, database: Database
) -> None:
    """Fired by its schedule; the node that asked is gone when somebody approves, the other one goes on."""
    place = {"NETAUTOD_MONGODB_URI": mongo_uri, "NETAUTOD_MONGODB_DATABASE": database.name}
    async with (
        model_server([Call("change_config", CHANGE)]) as model,
        SimulatedDevice(hostname="sw1", takes_lines=True) as switch,
        serving(tmp_path / "one", variables={**model.variables, **place}) as one,
    ):
        switch.responses["write memory"] = "[OK]\n"
        admin = Console(client=await one.client())
        await admin.credential("lab", is_default=True)
        await admin.device("sw1", switch.port)
        await admin.add("/api/users", username="boss", password="approves-everything-1", roles=["admin"])
        made = await admin.add(AGENTS, name="nightly", prompt="x", cron_expression="* * * * *")

        async def parked() -> Any:
            found = await admin.read(f"{EXECUTIONS}?state=approval_pending")
            return found["executions"]

        waiting = (await eventually(parked, seconds=90))[0]
        assert waiting["triggered_by"] == "schedule"
        await admin.client.post(f"{AGENTS}/{made['id']}/toggle")
        (tmp_path / "two").mkdir()
        shutil.copy(tmp_path / "one" / "master.key", tmp_path / "two" / "master.key")
        async with serving(tmp_path / "two", variables={**model.variables, **place}) as two:
            boss = Console(client=await two.client("boss", "approves-everything-1"))
            await one.stop()
            shown = await boss.read(f"{EXECUTIONS}/{waiting['id']}")
            path = f"{EXECUTIONS}/{waiting['id']}/approve"
            stale = await boss.client.post(path, {"hash": "0" * 64})
            assert stale.status == 409
            assert stale.json["error"] == "The execution asks for something else by now"
            approved = await boss.client.post(path, {"hash": shown["approval_request"]["hash"]})
            assert approved.status == 200, approved.content
            ended = await boss.ended(waiting["id"])
    assert (ended["state"], ended["error_message"]) == ("completed", None)
    assert switch.commands.count("ntp server 192.0.2.9") == 1
