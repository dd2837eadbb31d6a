"""What a service holds while schemathesis asks: one of everything that a path or a body may name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console

NEVER = "0 0 1 1 *"
SPARES = 3


@asynccontextmanager
async def populated(console: Console) -> AsyncIterator[dict[str, list[str]]]:
    """Ids by kind; those of a `spare_` kind may be deleted. The device answers until the end of the block."""
    async with SimulatedDevice(hostname="fuzzed") as switch:
        credential = await console.credential("fuzzed")
        device = await console.device("fuzzed", switch.port, default_credential_id=credential)
        backup = await console.backup("fuzzed", "fuzzed")
        run = await console.run(backup)
        assert run["state"] == "completed", run
        switch.config = switch.config.replace("hostname fuzzed", "hostname fuzzed-2")
        await console.run(backup)
        ids = {
            "credential": [credential],
            "device": [device],
            "task": [backup],
            "execution": [run["id"]],
            "snapshot": [run["output"]["snapshot_id"]],
            **await _more(console),
        }
        for number in range(SPARES):
            for kind, one in (await _spares(console, number)).items():
                ids.setdefault(f"spare_{kind}", []).append(one)
        yield ids


async def _more(console: Console) -> dict[str, list[str]]:
    agent = await _added(
        console, "/api/tasks/agent-schedules", name="fuzzed agent", prompt="?", cron_expression=NEVER
    )
    agent_run = (await console.client.post(f"/api/tasks/agent-schedules/{agent}/run")).expect(202)["id"]
    document = await _document(console, "fuzzed")
    (await console.client.put(f"/api/docs/{document}", {"content": "newer"})).expect()
    versions = await console.read(f"/api/docs/{document}/versions")
    return {
        "agent_task": [agent],
        "agent_execution": [agent_run],
        "document": [document],
        "document_version": [versions[0]["id"]],
        "role": [await _added(console, "/api/roles", name="fuzzed", permissions=["devices.access"])],
        "site": [await _added(console, "/api/sites", name="fuzzed site")],
        "user": [await _user(console, "fuzzed")],
    }


async def _spares(console: Console, number: int) -> dict[str, str]:
    name = f"spare-{number}"
    return {
        "credential": await console.credential(name),
        "device": await console.device(name, 9),
        "task": await console.backup(name, name),
        "document": await _document(console, name),
        "role": await _added(console, "/api/roles", name=name, permissions=["devices.access"]),
        "site": await _added(console, "/api/sites", name=name),
        "user": await _user(console, name),
    }


async def _added(console: Console, path: str, **fields: Any) -> str:
    return str((await console.add(path, **fields))["id"])


async def _document(console: Console, name: str) -> str:
    fields = {"category": "templates", "content_type": "jinja", "content": "hostname {{ name }}"}
    return await _added(console, "/api/docs", name=name, **fields)


async def _user(console: Console, name: str) -> str:
    password = "a longer passphrase 2026"
    return await _added(console, "/api/users", username=name, password=password, roles=["viewer"])
