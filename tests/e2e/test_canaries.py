"""What a reader without the right to secrets can ask of a running service shows no secret of any device.

Every route that reads is asked (route_walk.py), of devices of every platform (canaries.py); searches tell
nothing but what is shown; then what else leaves the service: webhooks, the log, an export, a trial.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from netautod.secrets.redaction.patterns import HIDDEN
from tests.assembly.route_table import normalised, table
from tests.e2e.canaries import (
    IN_COMMANDS,
    IN_REFUSALS,
    READ,
    REFUSAL,
    Canaries,
    Planted,
    queries,
    reader_of,
    refusing,
    versions_of,
)
from tests.e2e.console import CONFIGS, Console
from tests.e2e.route_walk import FORBIDDEN, asked, reads, unlisted
from tests.support.client import ApiClient
from tests.support.programs.in_process import Commands
from tests.support.programs.service import Service, serving
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving

pytestmark = pytest.mark.slow

COMMAND = f"snmp-server community {IN_COMMANDS} ro"
SEARCH = "/api/config/search"


@dataclass(frozen=True, kw_only=True)
class World:
    service: Service
    console: Console
    reader: ApiClient
    receiver: WebhookReceiver
    canaries: Canaries
    planted: list[Planted]
    refusing: Planted
    runs: list[dict[str, Any]]
    folder: Path
    commands: Commands

    @property
    def read(self) -> list[Planted]:
        return [one for one in self.planted if one.switch is not None]

    @property
    def plain(self) -> ApiClient:
        """The reader, where the form of the answers was looked at before."""
        return replace(self.reader, description={"paths": {}, "components": ERRORS})


ERRORS: dict[str, Any] = {"schemas": {"Error": {}}}


@asynccontextmanager
async def world(folder: Path, commands: Commands) -> AsyncIterator[World]:
    """All devices have two versions; the one that refuses has none, and its run has failed."""
    variables = {"NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1", "NETAUTOD_WEBHOOK_SECRET": "shared-with-receiver"}
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(receiving())
        variables["NETAUTOD_WEBHOOK_URLS"] = receiver.url
        service = await stack.enter_async_context(serving(folder / "data", variables=variables))
        console, canaries = Console(client=await service.client()), Canaries.of_all()
        planted = await canaries.planted(stack, console, commands, folder / "history")
        task = await console.backup("all", "planted")
        runs = [await console.run(task, seconds=120)]
        for one in planted[: len(READ)]:
            canaries.show(one, version=2)
        runs.append(await console.run(task, seconds=120))
        assert [run["state"] for run in runs] == ["completed"] * 2, runs
        broken = await refusing(stack, console)
        runs.append(await console.run(await console.backup("broken", "refusing"), seconds=120))
        assert runs[-1]["state"] == "failed"
        yield World(
            service=service,
            console=console,
            reader=await reader_of(console, service),
            receiver=receiver,
            canaries=canaries,
            planted=planted,
            refusing=broken,
            runs=runs,
            folder=folder,
            commands=commands,
        )


@pytest.mark.timeout(400)
async def test_a_reader_meets_no_secret(tmp_path: Path, commands: Commands) -> None:
    async with world(tmp_path, commands) as there:
        said = [*await told_by_routes(there), *await told_by_texts(there), *await told_by_writes(there)]
        events = await there.receiver.until_events(
            *["config_changed"] * 2 * len(READ), *["execution_finished"] * 3
        )
        said += [str(content) for content in events]
        said += await told_by_programs(there)
        said.append(there.service.log.read_text(encoding="utf-8"))
        assert there.canaries.in_(said) == {}
        quoted = REFUSAL.strip().replace(IN_REFUSALS, HIDDEN)
        assert sum(quoted in text for text in said) > 3  # results, the log of the run, the last backup ...
        await search_tells_what_is_shown(there)
        await the_secrets_are_there(there)


async def told_by_routes(there: World) -> list[str]:
    """The answers of every route that reads, with all that fits its parameters; each must have its status."""
    paths = there.reader.description["paths"]
    assert unlisted(paths) == (set(), set())
    success = {line.path: int(line.success) for line in table().values() if line.method == "GET"}
    success |= dict.fromkeys((path for path in paths if path.startswith("/api/plugins/")), 200)
    ids, parts = await ids_of(there)
    said, statuses = [], Counter[tuple[str, int]]()
    for path in reads(paths):
        forbidden = path in FORBIDDEN and "{id}" in path
        for concrete in [path] if forbidden else asked(path, ids, parts):
            answer = await there.reader.get(concrete)
            statuses[path, answer.status] += 1
            said.append(answer.content.decode(errors="replace"))
    wanted = {(path, 403 if path in FORBIDDEN else success[normalised(path)]) for path in reads(paths)}
    assert set(statuses) == wanted
    return said


async def ids_of(there: World) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What exists, by kind, and the names of parts by device."""
    console = there.console
    document = await console.add(
        "/api/docs", name="d", category="notes", content_type="jinja", content="{{ x }}"
    )
    await console.client.put(f"/api/docs/{document['id']}", {"content": "{{ x }}!"})
    agent = await console.add("/api/tasks/agent-schedules", name="a", prompt="p", cron_expression="0 0 1 1 *")
    agent_run = (await console.client.post(f"/api/tasks/agent-schedules/{agent['id']}/run")).expect(202)
    await console.ended(agent_run["id"])
    source = await console.add(
        "/api/devices/sources/inventory", name="s", url="http://127.0.0.1:9", token="c4nary-of-a-source"
    )
    site = await console.add("/api/sites", name="somewhere")
    webhook = await console.add(
        "/api/webhooks",
        name="w",
        url="http://127.0.0.1:9",
        events=["config_changed"],
        secret="c4nary-of-a-webhook",
    )
    parts = {
        one.device_id: [part["name"] for part in (await console.latest(one.device_id))["parts"]]
        for one in there.read
    }
    return {
        "task": [run["task_id"] for run in there.runs],
        "run": [run["id"] for run in there.runs],
        "agent": [agent["id"]],
        "agent run": [agent_run["id"]],
        "device": list(parts),
        "source": [source["id"]],
        "snapshot": [item["id"] for item in (await console.read("/api/config/snapshots"))["snapshots"]],
        "document": [document["id"]],
        "version of a document": [
            item["id"] for item in rows(await console.read(f"/api/docs/{document['id']}/versions"))
        ],
        "user": [item["id"] for item in rows(await console.read("/api/users"))],
        "role": [item["id"] for item in rows(await console.read("/api/roles"))],
        "site": [site["id"]],
        "webhook": [webhook["id"]],
    }, parts


def rows(answer: Any) -> list[dict[str, Any]]:
    """Of a list, in an envelope or bare."""
    return (
        answer
        if isinstance(answer, list)
        else next(item for item in answer.values() if isinstance(item, list))
    )


async def told_by_texts(there: World) -> list[str]:
    """The last version of every platform, and what the one before it had besides."""
    said = []
    for one in there.planted:
        base = f"{CONFIGS}/{one.device_id}"
        paths = (versions_of(one)[-1], f"{base}/diff")
        for path in paths:
            answer = await there.plain.get(path)
            assert answer.status == 200, (path, answer.content)
            said.append(answer.content.decode())
    for path in paths:
        refused = await there.plain.get(path + ("&" if "?" in path else "?") + "secrets=true")
        assert refused.status == 403, path
    return said


async def told_by_writes(there: World) -> list[str]:
    """The answers of what writes or runs something, where they hold more than what was sent."""
    said = []
    for one in there.read:
        for command in (*filter(None, (item.command for item in one.platform.capture)), COMMAND):
            answer = await there.reader.post(
                f"/api/devices/{one.device_id}/exec-command", {"command": command}
            )
            assert answer.status == 200, answer.content
            assert command == COMMAND or answer.json["success"]
            said.append(answer.content.decode().replace(COMMAND, ""))
    device_id, broken = there.read[0].device_id, there.refusing.device_id
    document = rows(await there.console.read("/api/docs"))[0]
    version = rows(await there.console.read(f"/api/docs/{document['id']}/versions"))[0]
    requests: list[tuple[str, str, Any, int]] = [
        ("POST", f"/api/devices/{device_id}/test-credential", {}, 200),
        ("POST", "/api/devices/bulk/test-credentials", {"device_ids": [device_id, broken]}, 200),
        ("POST", f"{CONFIGS}/{device_id}/pull", {}, 200),
        ("POST", f"{CONFIGS}/{broken}/pull", {}, 502),
        ("POST", f"{CONFIGS}/bulk-pull", {"device_ids": [device_id, broken]}, 200),
        ("PUT", f"{CONFIGS}/{device_id}/configs/1/notes", {"notes": "seen"}, 200),
        ("POST", f"/api/docs/{document['id']}/render", {}, 200),
        ("POST", f"/api/docs/{document['id']}/restore/{version['id']}", None, 200),
        ("POST", f"/api/tasks/schedules/{there.runs[0]['task_id']}/run", None, 202),
        ("PUT", f"/api/devices/{device_id}", {"description": "seen"}, 200),
        # What the commands and the refusals have left behind.
        ("GET", "/api/audit?limit=500", None, 200),
        ("GET", "/api/devices/with-backup-info?limit=100", None, 200),
    ]
    for method, path, body, status in requests:
        answer = await there.reader.request(method, path, body)
        assert answer.status == status, (path, answer.content)
        said.append(answer.content.decode())
    return said


async def told_by_programs(there: World) -> list[str]:
    """An export as anybody gets it who does not ask for secrets, and a trial with its recording."""
    target, recording, password = (there.folder / name for name in ("exported", "recorded", "password"))
    exported = await there.commands("export-configs", str(target), "--data-dir", str(there.service.data_dir))
    assert exported.code == 0, exported.err
    switch = there.read[0].switch
    assert switch is not None
    assert switch.password is not None
    password.write_text(switch.password)
    where = ("127.0.0.1", "--port", str(switch.port), "--platform", there.read[0].name)
    login = ("--username", switch.username, "--password-file", str(password))
    tried = await there.commands("platform", "try", *where, *login, "--record", str(recording))
    assert "secrets replaced" in tried.out, tried
    files = [path for folder in (target, recording) for path in folder.rglob("*") if path.is_file()]
    assert len(files) > len(there.planted)
    texts = [path.read_bytes().decode(errors="replace") for path in files]
    return [exported.out, exported.err, tried.out, tried.err, *texts]


async def search_tells_what_is_shown(there: World) -> None:
    """A search finds the lines that a reader is shown and no other: nothing can be guessed by its counts."""
    shown: list[str] = []
    for one in there.planted:
        text = (await there.plain.get(f"{CONFIGS}/{one.device_id}/configs/latest")).json["config_text"]
        shown += text.removesuffix("\n").split("\n")
    wrong = {}
    for query, lines in queries(there.canaries, shown):
        answer = (await there.plain.get(f"{SEARCH}?{query}")).expect()
        if answer["total"] != lines:
            wrong[query] = (answer["total"], lines)
    assert wrong == {}


async def the_secrets_are_there(there: World) -> None:
    """Otherwise nothing of all this would have been seen."""
    some = [one for one in there.planted if one.switch is None][::6]
    answers = [await there.console.client.get(f"{versions_of(one)[1]}?secrets=true") for one in some]
    found = there.canaries.in_(answer.content.decode() for answer in answers)
    texts = [there.canaries.texts[one.name].versions[1] for one in some]
    assert {secret for secret in there.canaries.secrets if any(secret in text for text in texts)} == set(
        found
    )
    assert len(found) > 50
