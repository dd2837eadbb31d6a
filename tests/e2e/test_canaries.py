"""What a reader without the right to secrets can ask of a running service shows no secret of any device.

Every route that reads is asked, a new one without an edit here; then what else leaves the service: webhooks,
the log, an export.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from netautod.core.permissions import KNOWN_PERMISSIONS
from netautod.ssh.platform.model import Platform
from netautod.ssh.platform.registry import PlatformRegistry
from netautod.testing import SimulatedDevice
from tests.e2e.console import CONFIGS, Console
from tests.support.client import ApiClient
from tests.support.platform_fixtures import PlatformFixture, load, show
from tests.support.programs.service import Service, run, serving
from tests.support.servers.webhook_receiver import receiving

pytestmark = pytest.mark.slow

PLATFORMS = (
    *("arista_eos", "cisco_asa", "cisco_ios", "cisco_nxos", "fortinet", "hp_procurve", "huawei_vrp"),
    *("juniper_junos", "mikrotik_routeros", "nokia_sros", "paloalto_panos", "vyos"),
)
PASSWORD = "pa55word-of-a-reader"
IN_PARTS, IN_COMMANDS = "c4nary-of-a-part", "c4nary-of-a-command"
PART = f"Model: X1\nadmin password {IN_PARTS}\nsnmp-server community {IN_PARTS} ro\nSerial: Y2\n"
COMMAND = f"snmp-server community {IN_COMMANDS} ro"
# Shorter ones stand in other words by chance.
LETTERS = 6
# What they show depends on nothing that a device says.
SILENT = {"/api/auth/oidc/authorize", "/api/auth/oidc/callback", "/api/ssh-ca", "/api/ssh-ca/krl"}
FORBIDDEN = {"/api/credentials", "/api/credentials/{id}", f"{CONFIGS}/{{device_id}}/configs/{{version}}/raw"}


@dataclass(frozen=True, kw_only=True)
class Planted:
    device_id: str
    switch: SimulatedDevice
    platform: Platform
    fixture: PlatformFixture

    @property
    def secrets(self) -> list[str]:
        return [secret for secret in self.fixture.secrets if len(secret) >= LETTERS]


@pytest.mark.timeout(400)
async def test_a_reader_meets_no_secret(tmp_path: Path) -> None:
    variables = {"NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1", "NETAUTOD_WEBHOOK_SECRET": "shared-with-receiver"}
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(receiving())
        variables["NETAUTOD_WEBHOOK_URLS"] = receiver.url
        service = await stack.enter_async_context(serving(tmp_path / "data", variables=variables))
        console = Console(client=await service.client())
        planted = [await plant(stack, console, name) for name in PLATFORMS]
        task = await console.backup("all", "planted")
        runs = [await console.run(task, seconds=120)]
        for one in planted:
            show(one.switch, one.platform, one.fixture.changed)
            answer_parts(one)
        runs.append(await console.run(task, seconds=120))
        assert [run["state"] for run in runs] == ["completed"] * 2, runs
        reader = await reader_of(console, service)
        ids = await known_ids(console, planted, runs[-1]["id"])

        said = [*await all_reads(reader, ids), *await commands(reader, planted)]
        said += [str(content) for content in await receiver.until_events(*["execution_finished"] * 2)]
        said += [(tmp_path / "data" / "service.log").read_text(encoding="utf-8")]
        said += await exported(service, tmp_path)
        assert leaks(said, planted) == set()
        assert await matches(reader, planted) == {}

        whole = [
            await console.client.get(f"{CONFIGS}/{one.device_id}/configs/{version}?secrets=true")
            for one, version in product(planted, (1, 2))
        ]
        assert len(leaks([answer.content.decode() for answer in whole], planted)) > 2 * len(planted)


async def plant(stack: AsyncExitStack, console: Console, name: str) -> Planted:
    """A device whose configuration, parts and output carry secrets."""
    platform, fixture = PlatformRegistry().get(name), load(name)
    switch = await stack.enter_async_context(fixture.device(platform, hostname=f"{name.replace('_', '-')}1"))
    credential = await console.credential(
        name, username=switch.username, secret=switch.password, enable_secret=switch.enable_password
    )
    fields = {"device_type": name, "default_credential_id": credential, "site": "planted"}
    one = Planted(
        device_id=await console.device(switch.hostname, switch.port, **fields),
        switch=switch,
        platform=platform,
        fixture=fixture,
    )
    answer_parts(one)
    return one


def answer_parts(one: Planted) -> None:
    for part in one.platform.parts:
        text = one.fixture.changed if part.difference else PART
        one.switch.responses.setdefault(part.command, text)


async def reader_of(console: Console, service: Service) -> ApiClient:
    """Somebody who may do everything but see secrets."""
    held = [key for key in KNOWN_PERMISSIONS if key != "credentials.manage"]
    await console.add("/api/roles", name="reader", permissions=held)
    await console.add("/api/users", username="reader", password=PASSWORD, roles=["reader"])
    return await service.client("reader", PASSWORD)


async def known_ids(console: Console, planted: list[Planted], run_id: str) -> list[tuple[str, ...]]:
    """What stands for the parameters of a path, in order: each tuple is tried with each path."""
    found: list[tuple[str, ...]] = [
        (run_id,),
        (await first_id(console, "/api/tasks/schedules", "schedules"),),
    ]
    for path, key in (("/api/users", "users"), ("/api/roles", "roles"), ("/api/sites", "sites")):
        found.append((await first_id(console, path, key),))
    found.append((await first_id(console, "/api/config/snapshots", "snapshots"),))
    for one in planted:
        parts = (await console.latest(one.device_id))["parts"]
        found.append((one.device_id,))
        found += [(one.device_id, version) for version in ("1", "2")]
        found += [(one.device_id, "2", part["name"]) for part in parts]
    return found


async def first_id(console: Console, path: str, key: str) -> str:
    listed = await console.read(path)
    rows = listed if isinstance(listed, list) else listed.get(key) or listed.get("items")
    return str(rows[0]["id"]) if rows else "none"


async def all_reads(reader: ApiClient, ids: list[tuple[str, ...]]) -> list[str]:
    """The answers of every route that reads, with all that fits its parameters."""
    paths = (await reader.get("/api/openapi.json")).json["paths"]
    said, statuses = [], Counter[tuple[str, int]]()
    for path in (path for path, operations in paths.items() if "get" in operations):
        for concrete in concretes(path, ids):
            answer = await reader.get(concrete)
            statuses[path, answer.status] += 1
            said.append(answer.content.decode(errors="replace"))
    answered = {path for path, status in statuses if status == 200}
    devices = {
        path for path in paths if path.startswith((f"{CONFIGS}/", "/api/devices/{")) and "get" in paths[path]
    }
    assert devices - answered == FORBIDDEN & devices
    assert {status for path, status in statuses if path in FORBIDDEN} == {403}
    assert {status for _, status in statuses} <= {200, 400, 403, 404}
    return said


def concretes(path: str, ids: list[tuple[str, ...]]) -> Iterator[str]:
    if path in SILENT:
        return
    parameters = re.findall(r"\{(\w+)\}", path)
    if not parameters:
        # Some routes want a parameter of the query; without one they answer a 400.
        yield f"{path}?q=e" if path.endswith("/search") else path
    for values in ids:
        if len(values) == len(parameters):
            filled = path
            for parameter, value in zip(parameters, values, strict=True):
                filled = filled.replace(f"{{{parameter}}}", value, 1)
            yield filled


async def commands(reader: ApiClient, planted: list[Planted]) -> list[str]:
    """The output of the commands that show a configuration, and what a refused one leaves behind."""
    said = []
    for one in planted:
        path = f"/api/devices/{one.device_id}/exec-command"
        for command in (*filter(None, (item.command for item in one.platform.capture)), COMMAND):
            answer = await reader.post(path, {"command": command})
            assert answer.status == 200, answer.content
            assert command == COMMAND or answer.json["success"] or one.platform.capture[0].command != command
            said.append(answer.content.decode().replace(COMMAND, ""))
    said.append((await reader.get("/api/audit?limit=500")).content.decode())
    return said


async def exported(service: Service, folder: Path) -> list[str]:
    """The files of an export, as anybody gets them who does not ask for secrets."""
    target = folder / "exported"
    done = await run("export-configs", str(target), "--data-dir", str(service.data_dir))
    assert done.code == 0, done.err
    files = [path for path in target.rglob("*") if path.is_file()]
    assert len(files) >= len(PLATFORMS)
    return [done.out, done.err, *(path.read_bytes().decode(errors="replace") for path in files)]


async def matches(reader: ApiClient, planted: list[Planted]) -> dict[str, Any]:
    """The searches that find what is hidden, by the whole secret or the beginning of it."""
    found = {}
    for secret in {secret for one in planted for secret in one.secrets} | {IN_PARTS}:
        begins = re.escape(secret[:LETTERS])
        for query in (f"q={quote(secret, safe='')}", f"regex={quote(f'{begins}.*', safe='')}"):
            answer = (await reader.get(f"/api/config/search?{query}")).expect()
            lines = [match["line"] for match in answer["matches"]]
            if (answer["total"] and query.startswith("q=")) or any(secret in line for line in lines):
                found[query] = lines
    return found


def leaks(said: list[str], planted: list[Planted]) -> set[str]:
    text = "\n".join(said)
    secrets = {secret for one in planted for secret in one.secrets}
    return {secret for secret in (*secrets, IN_PARTS, IN_COMMANDS) if secret in text}
