"""Agents over HTTP: a scripted model, simulated switches, an approval, and what is kept of it all."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.programs.service import QUICK_LEASES, Service, run, serving
from tests.support.servers.model_server import Broken, Call, ModelServer, Say, Status, model_server

pytestmark = pytest.mark.slow

AGENTS = "/api/tasks/agent-schedules"
EXECUTIONS = "/api/tasks/executions"
HISTORY = "/api/admin/agent-tasks/history"
NEVER = "0 0 1 1 *"
VLANS = "VLAN Name   Status    Ports\n10   users  active    Gi1/0/1\n20   voice  active    Gi1/0/2\n"


@dataclass(frozen=True, kw_only=True)
class Lab:
    """`admin` owns the tasks; `other` may approve what they ask for."""

    service: Service
    model: ModelServer
    switch: SimulatedDevice
    admin: Console
    other: Console
    device_id: str

    async def task(self, prompt: str = "Look around.", **fields: Any) -> str:
        name = f"agent {uuid4()}"
        made = await self.admin.add(AGENTS, name=name, prompt=prompt, cron_expression=NEVER, **fields)
        return str(made["id"])

    async def started(self, *script: Say, prompt: str = "Look around.") -> str:
        self.model.script[:] = script
        task = await self.task(prompt)
        begun = await self.admin.client.post(f"{AGENTS}/{task}/run")
        return str(begun.expect(202)["id"])

    async def ran(self, *script: Say, prompt: str = "Look around.") -> dict[str, Any]:
        return await self.admin.ended(await self.started(*script, prompt=prompt))


@dataclass(frozen=True, kw_only=True)
class House:
    """A service with its model, in which one lab after the other is set up."""

    service: Service
    model: ModelServer
    admin: Console
    other: Console


@asynccontextmanager
async def a_house(data: Path, **variables: str) -> AsyncIterator[House]:
    async with (
        model_server() as model,
        serving(data, variables={**model.variables, **variables}) as service,
    ):
        admin = Console(client=await service.client())
        await admin.credential("lab", is_default=True)
        await admin.add("/api/users", username="boss", password="approves-everything-1", roles=["admin"])
        other = Console(client=await service.client("boss", "approves-everything-1"))
        yield House(service=service, model=model, admin=admin, other=other)


@asynccontextmanager
async def a_lab(house: House) -> AsyncIterator[Lab]:
    """With a switch of its own, and a model that remembers nothing."""
    house.model.begin_anew()
    async with SimulatedDevice(hostname="sw1", takes_lines=True) as switch:
        switch.responses |= {"show vlan brief": VLANS, "write memory": "[OK]\n"}
        device_id = await house.admin.device("sw1", switch.port)
        yield Lab(
            service=house.service,
            model=house.model,
            switch=switch,
            admin=house.admin,
            other=house.other,
            device_id=device_id,
        )
        assert (await house.admin.client.delete(f"/api/devices/{device_id}")).status == 204


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with a_house(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture
async def lab(house: House) -> AsyncIterator[Lab]:
    async with a_lab(house) as made:
        yield made


def cites_first_line(request: Any) -> str:
    """The final answer of a model that names where it read a VLAN."""
    found = next(one for one in reversed(request["messages"]) if one["role"] == "tool")
    line = next(text for text in found["content"].split("\n") if "users" in text)
    number = line.partition("|")[0]
    return f"VLAN 10 is users [cite:{found['tool_call_id']}:{number}-{number}] and [cite:nothing:1-2]."


async def test_a_run_reads_and_cites(lab: Lab) -> None:
    calls = [Call("list_devices"), Call("run_command", {"device": "sw1", "command": "sh vlan brief"})]
    ended = await lab.ran(calls, cites_first_line, prompt="Which VLANs does sw1 have?")

    assert (ended["state"], ended["error_message"]) == ("completed", None)
    output = ended["output"]
    assert output["answer"].startswith("VLAN 10 is users [cite:call_1_1:")
    held, invented = output["citations"]
    assert (held["tool_call_id"], held["holds"], held["text"]) == (
        "call_1_1",
        True,
        "10   users  active    Gi1/0/1",
    )
    assert held["source"] == "show vlan brief on sw1"
    assert (invented["tool_call_id"], invented["holds"], invented["text"]) == ("nothing", False, None)
    assert output["usage"] == {
        "turns": 2,
        "tool_calls": 2,
        "input_tokens": 20,
        "output_tokens": 20,
        "total_tokens": 40,
        "devices": 1,
    }
    assert "show vlan brief" in lab.switch.commands
    assert "sh vlan brief" not in lab.switch.commands

    first, second = lab.model.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert "Which VLANs does sw1 have?" in first["messages"][1]["content"]
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"run_command", "change_config"}
    assert "10   users" in second["messages"][-1]["content"]
    assert lab.model.keys == ["Bearer canary-key-of-the-model"] * 2

    shown = await lab.admin.read(f"{HISTORY}/{ended['id']}")
    roles = [event["role"] for event in shown["transcript"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"]
    listed = (await lab.admin.read("/api/agents/executions"))[0]
    assert (listed["iterations_used"], listed["tool_calls_made"]) == (2, 2)
    assert listed["final_answer"] == output["answer"]
    features = (await lab.admin.read("/api/capabilities"))["features"]
    assert {"name": "central_ai", "enabled": True} in features


CHANGE = {
    "device": "sw1",
    "lines": ["ntp server 192.0.2.9"],
    "save": True,
    "reason": "The old one is gone.",
}


async def test_a_change_waits_for_somebody_else(lab: Lab) -> None:
    execution = await lab.started([Call("change_config", CHANGE)], "Done.")
    waiting = await lab.admin.until(execution, "approval_pending")

    request = waiting["approval_request"]
    assert (request["lines"], request["save"], request["tool"]) == (CHANGE["lines"], True, "change_config")
    assert "+ntp server 192.0.2.9" in request["diff"].split("\n")
    assert request["devices"] == [{"id": lab.device_id, "name": "sw1"}]
    assert waiting["requested_by"]["username"] == "admin"
    assert waiting["approval_expires_at"] is not None
    assert "configure terminal" not in lab.switch.commands

    own = await lab.admin.client.post(f"{EXECUTIONS}/{execution}/approve", {})
    assert own.status == 403
    assert "Another user has to decide" in own.json["error"]
    approved = await lab.other.client.post(f"{EXECUTIONS}/{execution}/approve", {"comment": "go on"})
    assert approved.status == 200

    ended = await lab.admin.ended(execution)
    assert (ended["state"], ended["error_message"]) == ("completed", None)
    sent = lab.switch.commands
    start = sent.index("configure terminal")
    assert sent[start : start + 4] == ["configure terminal", "ntp server 192.0.2.9", "end", "write memory"]
    told = lab.model.results()["call_1_0"]
    assert "All lines were taken and stored for the next start." in told
    assert "+ntp server 192.0.2.9" in told
    shown = await lab.admin.read(f"{HISTORY}/{execution}")
    event = next(one for one in shown["transcript"] if one["role"] == "tool")
    assert (event["approval"]["decision"], event["approval"]["by"]) == ("approved", "boss")
    assert event["actor"] == "admin"


async def test_a_rejection_is_told_to_the_model(lab: Lab) -> None:
    execution = await lab.started([Call("change_config", CHANGE)], "A pity.")
    await lab.admin.until(execution, "approval_pending")
    await lab.other.client.post(f"{EXECUTIONS}/{execution}/reject", {"comment": "not on Fridays"})
    ended = await lab.admin.ended(execution)
    assert (ended["state"], ended["output"]["answer"]) == ("completed", "A pity.")
    assert "boss has rejected this: not on Fridays" in lab.model.results()["call_1_0"]
    assert "configure terminal" not in lab.switch.commands


async def test_a_target_that_changed_since_is_refused(lab: Lab) -> None:
    execution = await lab.started([Call("change_config", CHANGE)], "I see.")
    await lab.admin.until(execution, "approval_pending")
    async with SimulatedDevice(hostname="sw1", takes_lines=True) as stranger:
        moved = await lab.admin.client.put(f"/api/devices/{lab.device_id}", {"port": stranger.port})
        assert moved.status == 200
        await lab.other.client.post(f"{EXECUTIONS}/{execution}/approve", {})
        ended = await lab.admin.ended(execution)
        assert ended["state"] == "completed"
        assert "what was approved is not what would be done now" in lab.model.results()["call_1_0"]
        assert stranger.commands == []
    assert "configure terminal" not in lab.switch.commands


async def test_an_approval_survives_the_service(tmp_path: Path) -> None:
    async with (
        model_server([Call("change_config", CHANGE)]) as model,
        SimulatedDevice(hostname="sw1", takes_lines=True) as switch,
    ):
        switch.responses["write memory"] = "[OK]\n"
        data = tmp_path / "data"
        async with serving(data, variables=model.variables) as service:
            admin = Console(client=await service.client())
            await admin.credential("lab", is_default=True)
            await admin.device("sw1", switch.port)
            await admin.add("/api/users", username="boss", password="approves-everything-1", roles=["admin"])
            made = await admin.add(AGENTS, name="agent", prompt="x", cron_expression=NEVER)
            execution = (await admin.client.post(f"{AGENTS}/{made['id']}/run")).json["id"]
            await admin.until(execution, "approval_pending")
            await service.kill()
        async with serving(data, variables=model.variables) as service:
            other = Console(client=await service.client("boss", "approves-everything-1"))
            await other.client.post(f"{EXECUTIONS}/{execution}/approve", {})
            ended = await other.ended(execution)
            assert (ended["state"], ended["error_message"]) == ("completed", None)
            assert switch.commands.count("ntp server 192.0.2.9") == 1
        verified = await run("agent", "verify", execution, "--data-dir", str(data))
        assert (verified.code, verified.err) == (0, "")
        assert "whole; 5 events" in verified.out


BAD = [
    (Call("no_such_tool"), "there is no tool 'no_such_tool'"),
    (Call("run_command", "{not json"), "not valid JSON"),
    (Call("run_command", "[1]"), "no JSON object"),
    (Call("run_command", {"device": "sw1"}), "command: Missing data"),
    (Call("list_devices", {"limit": "7"}), "limit: Not a valid integer"),
    (Call("list_devices", {"x": 1}), "x: Unknown field"),
    (Call("run_command", {"device": "sw1", "command": "reload"}), "the command is not allowed"),
    (Call("run_command", {"device": "nobody", "command": "show version"}), "Device not found"),
    (Call("change_config", {"device": "sw1", "lines": ["do reload"]}), "is the command do, no line"),
    (
        Call("change_config", {"device": "sw1", "lines": ["hostname x", "cop run start"]}),
        "line 2: 'cop' may stand for the command copy",
    ),
    (Call("change_config", {"device": "sw1", "lines": ["a\nb"]}), "printable characters"),
]


async def test_what_cannot_be_done_is_told(lab: Lab) -> None:
    """All in one turn: the other calls of a turn go on."""
    await lab.ran([call for call, _ in BAD], "Well.")
    told = list(lab.model.results().values())
    assert len(told) == len(BAD)
    for (_, text), result in zip(BAD, told, strict=True):
        assert text in result, (text, result)
    assert all(not command.startswith(("reload", "do", "conf")) for command in lab.switch.commands)


async def test_budgets_end_the_run_and_keep_what_was_done(tmp_path: Path) -> None:
    budgets = {"NETAUTOD_AGENT_MAX_TURNS": "3", "NETAUTOD_AGENT_MAX_TOOL_CALLS": "4"}
    async with a_house(tmp_path, **budgets) as house, a_lab(house) as lab:
        lab.model.otherwise = [Call("list_devices")]
        ended = await lab.ran()
        assert (ended["state"], ended["retry_count"]) == ("failed", 0)
        assert ended["error_message"] == "the budget of 3 turns is used up"
        assert ended["output"]["usage"]["turns"] == 3
        lab.model.otherwise = "Enough."
        ended = await lab.ran([Call("list_devices")] * 6)
        assert ended["error_message"] == "the budget of 4 tool calls is used up"
        shown = await lab.admin.read(f"{HISTORY}/{ended['id']}")
        assert [event["role"] for event in shown["transcript"]].count("tool") == 4
        assert shown["transcript"][-1]["role"] == "stopped"


async def test_a_model_that_stumbles_is_asked_again(lab: Lab) -> None:
    ended = await lab.ran(
        Status(429, {"Retry-After": "0"}), Status(503), Broken(), [Call("list_devices")], "Here."
    )
    assert (ended["state"], ended["retry_count"]) == ("completed", 0)
    assert len(lab.model.requests) == 5


async def test_a_refused_key_fails_at_once_and_is_not_told(lab: Lab) -> None:
    body = json.dumps({"error": {"message": "bad key canary-key-of-the-model"}}).encode()
    ended = await lab.ran(Status(401, body=body))
    assert (ended["state"], ended["retry_count"]) == ("failed", 0)
    assert ended["error_message"] == "the model's server answered 401: bad key <hidden>"


async def test_cancel_in_the_middle(lab: Lab) -> None:
    lab.model.free.clear()
    execution = await lab.started([Call("run_command", {"device": "sw1", "command": "show version"})])
    await lab.model.until(1)
    cancelled = await lab.admin.client.post(f"{EXECUTIONS}/{execution}/cancel")
    assert cancelled.status == 204
    lab.model.free.set()
    ended = await lab.admin.ended(execution)
    assert ended["state"] == "cancelled"
    assert lab.switch.commands == []


async def test_what_an_operator_may_ask_of_the_grammar(lab: Lab) -> None:
    asked = {"platform": "cisco_ios", "command": "show version"}
    found = (await lab.admin.client.post("/api/agents/tools/check", asked)).expect(200)
    assert found == {"allowed": True, "reason": None, "canonical": "show version"}
    asked = {"platform": "cisco_ios", "command": "reload"}
    found = (await lab.admin.client.post("/api/agents/tools/check", asked)).expect(200)
    assert (found["allowed"], found["canonical"]) == (False, None)
    assert found["reason"]


CONFIG_SECRETS = """\
enable secret 5 $1$canary$one
username canary-user privilege 15 password 0 canary-two
snmp-server community canary-three RO
crypto isakmp key canary-four address 192.0.2.7
tacacs-server key 7 canary-five
ip ssh pubkey-chain
"""


async def test_no_secret_leaves_for_the_model(lab: Lab) -> None:
    end = lab.switch.config.rindex("end\n")
    lab.switch.config = lab.switch.config[:end] + CONFIG_SECRETS + lab.switch.config[end:]
    await lab.admin.credential("second", secret="canary-six")
    noted = {"name": "safe", "category": "notes", "content_type": "text", "content": "canary-seven"}
    note = (await lab.admin.add("/api/docs", **noted))["id"]
    guide = {"name": "guide", "category": "mops", "content_type": "config", "content": CONFIG_SECRETS}
    document = (await lab.admin.add("/api/docs", **guide))["id"]
    stored = f"/api/config/devices/{lab.device_id}"
    version = (await lab.admin.client.post(f"{stored}/pull")).json["version"]
    about = {"notes": "the plain words canary-eight"}
    (await lab.admin.client.put(f"{stored}/configs/{version}/notes", about)).expect()
    answers = [
        Call("pull_config", {"device": "sw1"}),
        Call("read_config", {"device": "sw1"}),
        Call("grep_config", {"device": "sw1", "contains": "canary"}),
        Call("run_command", {"device": "sw1", "command": "show running-config"}),
        Call("read_device", {"device": "sw1"}),
        Call("list_documents", {}),
        Call("read_document", {"document_id": note}),
        Call("read_document", {"document_id": document}),
        Call("test_credential", {"device": "sw1"}),
        Call("list_executions", {}),
        Call("list_configs", {"device": "sw1"}),
    ]
    await lab.ran(answers, "Done.", prompt="What is wrong with this?\nenable secret 0 canary-nine\n")
    sent = b"".join(lab.model.bodies).decode()
    told = lab.model.results()
    assert "agents cannot read notes" in told["call_1_6"]
    assert "safe" not in told["call_1_5"]
    assert "login succeeded" in told["call_1_8"]
    assert "snmp-server community" in told["call_1_1"]
    assert f'"version": {version}' in told["call_1_10"]
    assert "What is wrong with this?" in sent
    for number in ("$one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine"):
        assert f"canary{number}" not in sent, number


async def test_what_is_done_is_seen_while_it_is_done(lab: Lab) -> None:
    def stop(request: Any) -> Any:
        lab.model.free.clear()
        return [Call("list_devices")]

    execution = await lab.started(stop, "Done.")
    await lab.model.until(2)
    listed = (await lab.admin.read("/api/agents/executions"))[0]
    assert (listed["id"], listed["state"]) == (execution, "running")
    assert (listed["iterations_used"], listed["tool_calls_made"]) == (1, 1)

    async def logged() -> Any:
        return "turn 1: calls list_devices" in await lab.admin.log_texts(execution)

    await eventually(logged)
    lab.model.free.set()
    assert (await lab.admin.ended(execution))["state"] == "completed"


async def test_the_owner_needs_the_permission_at_every_call(lab: Lab) -> None:
    await lab.admin.add("/api/roles", name="starter", permissions=["tasks.operate"])
    password = "only-starts-things-1"
    made = await lab.admin.add("/api/users", username="op", password=password, roles=["starter"])
    starter = Console(client=await lab.service.client("op", password))
    calls = [
        Call("list_devices"),
        Call("run_command", {"device": "sw1", "command": "show version"}),
        Call("list_executions"),
    ]
    lab.model.script[:] = [calls, "Done."]
    task = (await starter.add(AGENTS, name="mine", prompt="x", cron_expression=NEVER))["id"]
    begun = (await starter.client.post(f"{AGENTS}/{task}/run")).json["id"]
    assert (await starter.ended(begun))["state"] == "completed"
    told = lab.model.results()
    assert "lacks the permission devices.access" in told["call_1_0"]
    assert "lacks the permission devices.access" in told["call_1_1"]
    assert "executions:" in told["call_1_2"]
    offered = {tool["function"]["name"] for tool in lab.model.requests[0]["tools"]}
    assert "list_executions" in offered
    assert "run_command" not in offered

    seen = len(lab.model.requests)
    lab.model.free.clear()
    lab.model.script[:] = [[Call("list_executions")]]
    begun = (await starter.client.post(f"{AGENTS}/{task}/run")).json["id"]
    await lab.model.until(seen + 1)
    disabled = await lab.admin.client.put(f"/api/users/{made['id']}", {"is_active": False})
    assert disabled.status == 200
    lab.model.free.set()
    ended = await lab.admin.ended(begun)
    assert (ended["state"], ended["error_message"]) == (
        "failed",
        "the owner of the task is disabled or deleted",
    )
    assert len(lab.model.requests) == seen + 1


async def test_a_report_becomes_a_document(lab: Lab) -> None:
    report = {"name": "VLANs of sw1", "content": "# VLANs\n10 users\n"}
    ended = await lab.ran([Call("write_document", report)], "It is stored.")
    [document] = ended["output"]["documents"]
    shown = await lab.admin.read(f"/api/docs/{document}")
    assert (shown["category"], shown["name"], shown["content"]) == (
        "outputs",
        "VLANs of sw1",
        "# VLANs\n10 users\n",
    )


async def test_a_node_that_dies_in_the_middle_of_a_change_leaves_an_unknown_outcome(tmp_path: Path) -> None:
    async with (
        model_server([Call("change_config", CHANGE)]) as model,
        SimulatedDevice(hostname="sw1", takes_lines=True) as switch,
    ):
        data, variables = tmp_path / "data", {**model.variables, **QUICK_LEASES}
        async with serving(data, variables=variables) as service:
            admin = Console(client=await service.client())
            await admin.credential("lab", is_default=True)
            await admin.device("sw1", switch.port)
            await admin.add("/api/users", username="boss", password="approves-everything-1", roles=["admin"])
            made = await admin.add(AGENTS, name="agent", prompt="x", cron_expression=NEVER)
            execution = (await admin.client.post(f"{AGENTS}/{made['id']}/run")).json["id"]
            await admin.until(execution, "approval_pending")
            other = Console(client=await service.client("boss", "approves-everything-1"))
            switch.questions["configure terminal"] = "Wait "
            await other.client.post(f"{EXECUTIONS}/{execution}/approve", {})
            await switch.wait_until(lambda device: "configure terminal" in device.commands, 30)
            await service.kill()
        async with serving(data, variables=variables) as service:
            admin = Console(client=await service.client())
            ended = await admin.ended(execution, seconds=60)
            assert (ended["state"], ended["retry_count"]) == ("failed", 0)
            assert ended["error_message"] == "outcome unknown: node lost"
            assert switch.commands.count("configure terminal") == 1
