"""The shell block "First steps" of the README, run as it stands against a running service."""

import asyncio
import json
import shutil
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.programs.service import Service
from tests.support.readme import block_after

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl (apt package curl)")


async def test_a_newcomer_follows_the_readme(
    service: Service, console: Console, repository_root: Path
) -> None:
    block = block_after(repository_root / "README.md", "## First steps")
    async with SimulatedDevice(hostname="core-1", username="backup", password="the password") as switch:
        script = adapted(
            block,
            {
                "http://127.0.0.1:8080": service.url,
                "~/.local/share/netautod": str(service.data_dir),
                '\\"host\\":\\"192.0.2.1\\"': f'\\"host\\":\\"{switch.host}\\",\\"port\\":{switch.port}',
                '"name":"lab"': '"name":"readme"',
                '\\"name\\":\\"core-1\\"': '\\"name\\":\\"readme-core-1\\"',
                '\\"site\\":\\"lab\\"': '\\"site\\":\\"readme\\"',
                '"site":"lab"': '"site":"readme"',
                '"name":"nightly"': '"name":"readme nightly"',
            },
        )
        answers = await shell(script)
        me, tested, ran, run = answers[:4]
        assert me["username"] == "admin"
        assert (tested["success"], ran["success"]) == (True, True), answers
        assert (run["task_name"], run["triggered_by"]) == ("readme nightly", "manual")
        ended = await console.ended(run["id"])
        assert ended["state"] == "completed", ended
        device_id = ended["output"]["results"][0]["device_id"]
    assert "hostname core-1" in (await console.latest(device_id))["config_text"]
    assert await eventually(lambda: console.versions(device_id)) == [1]


async def test_an_api_client_follows_the_readme(
    service: Service, console: Console, repository_root: Path
) -> None:
    block = block_after(repository_root / "README.md", "## For API clients")
    block = adapted(block, {"site=lab": "site=conditional"})
    device_id = await console.device("conditional", 22)
    task_id = await console.backup("repeated", "nowhere")
    given = {
        "url": service.url,
        "auth": f"Authorization: Bearer {console.client.token}",
        "json": "Content-Type: application/json",
        "device": device_id,
        "task": task_id,
    }
    lines = "\n".join(f"{name}='{value}'" for name, value in given.items())
    *statuses, first, again = await shell(f"{lines}\n{block}")
    assert statuses == [304, 200, 412]
    assert first["id"] == again["id"]
    assert first["task_id"] == task_id


def adapted(block: str, changes: dict[str, str]) -> str:
    """The block with the test's own address, folder and names; each must be in it."""
    for old, new in changes.items():
        assert old in block, old
        block = block.replace(old, new)
    return block


async def shell(script: str) -> list[Any]:
    """The JSON values that the script prints, one after another."""
    process = await asyncio.create_subprocess_exec(
        "bash", "-euo", "pipefail", "-c", script, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b""), (out, err)
    decoder, text, values = json.JSONDecoder(), out.decode(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:]
    return values
