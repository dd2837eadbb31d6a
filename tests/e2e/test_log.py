"""The log of a running service in JSON: each line is read, and what was done is found in it."""

import asyncio
import json
import re
import socket
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.client import ApiClient
from tests.support.manual import page
from tests.support.programs.service import Service, run, serving
from tests.support.programs.started import free_port

pytestmark = pytest.mark.slow
Line = dict[str, Any]
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ALWAYS = {"at": str, "level": str, "logger": str, "message": str}
NUMBER = (int, float)
EVENTS: dict[str, dict[str, Any]] = {
    "request": {
        "request": str,
        "method": str,
        "route": str,
        "path": str,
        "status": int,
        "seconds": NUMBER,
        "client": str,
    },
    "execution": {
        "organization": str,
        "user": str,
        "execution": str,
        "task": str,
        "task_name": str,
        "task_type": str,
        "triggered_by": str,
        "state": str,
        "attempt": int,
        "seconds": NUMBER,
        "error": str,
    },
    "device_failure": {
        "organization": str,
        "user": str,
        "device": str,
        "transport": str,
        "kind": str,
        "error": str,
        "credential": (str, type(None)),
        "hop": (str, type(None)),
    },
}
MALFORMED = {
    name: kind for name, kind in EVENTS["request"].items() if name in ("request", "status", "client")
}
SECRETS = ("hunter2-and-more", "wrong-Pa55word", "nat_abcdefghijklmnop", "simulated")
NAME = 'night\n{}\u202e\x1b[2J "quoted" \\'


def lines_of(service: Service) -> list[Line]:
    """Every line that the service has written: each is a JSON object with what all of them have."""
    found = []
    for text in service.log.read_text().splitlines():
        line = json.loads(text)
        assert text.isprintable(), text
        for name, kind in ALWAYS.items():
            assert isinstance(line[name], kind), text
        assert UTC.fullmatch(line["at"]), text
        if "event" in line:
            wanted = EVENTS[line["event"]] if "route" in line or line["event"] != "request" else MALFORMED
            for name, kind in wanted.items():
                assert isinstance(line[name], kind), (name, text)
        found.append(line)
    return found


def of(lines: list[Line], event: str, **wanted: Any) -> list[Line]:
    known = [line for line in lines if line.get("event") == event]
    return [line for line in known if wanted.items() <= line.items()]


async def sent(service: Service, data: bytes) -> None:
    host, _, port = service.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    await reader.read()
    writer.close()


async def misuse(service: Service, client: ApiClient) -> None:
    """Requests that try to get a secret or a line of their own into the log."""
    anonymous = await service.anonymous()
    await anonymous.post("/api/auth/login", {"username": "x\n{}", "password": "wrong-Pa55word"})
    await client.get("/api/nothing/nat_abcdefghijklmnop")
    await client.get("/api/devices/nat_abcdefghijklmnop?search=hunter2-and-more")
    await client.get("/api/devices", headers={"X-Request-Id": 'a" ,"user":"root'})
    await sent(service, b'BAD "\x1b[2J\n\n')
    await sent(service, b"GET /\xff\x1b HTTP/1.1\r\nHost: localhost\r\n\r\n")


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "workers"])
async def test_each_line_is_read_and_says_whose_it_is(tmp_path: Path, flags: tuple[str, ...]) -> None:
    variables = {"NETAUTOD_LOG_FORMAT": "json"}
    async with (
        SimulatedDevice(hostname="sw1") as switch,
        serving(tmp_path / "data", *flags, variables=variables) as service,
    ):
        client = await service.client()
        console = Console(client=client)
        me = await console.read("/api/auth/me")
        await console.credential("lab", is_default=True)
        await console.device("sw1", switch.port)
        gone = await console.device("gone", free_port())
        done = await console.run(await console.backup(NAME, "sw1"))
        failed = await console.run(await console.backup("in vain", "gone", max_retries=1))
        assert (done["state"], failed["state"]) == ("completed", "failed")
        tested = await client.post(f"/api/devices/{gone}/exec-command", {"command": "show version"})
        assert tested.expect()["success"] is False
        await misuse(service, client)
        mine = await client.get("/api/devices", headers={"X-Request-Id": "find-me.1"})
        assert await service.stop() == 0
        lines = lines_of(service)
    whole = service.log.read_text()
    for secret in (*SECRETS, service.password, str(client.token)):
        assert secret not in whole
    (line,) = of(lines, "request", request="find-me.1")
    whose = {"organization": me["org_id"], "user": me["id"]}
    assert line.items() >= {"route": "/api/devices", "status": mine.status, "method": "GET", **whose}.items()
    (line,) = of(lines, "execution", execution=done["id"])
    assert line.items() >= {"state": "completed", "attempt": 1, "task_name": NAME, **whose}.items()
    ends = of(lines, "execution", execution=failed["id"])
    assert [(line["state"], line["attempt"]) for line in ends] == [("pending", 1), ("failed", 2)]
    assert all(line["error"] for line in ends)
    of_run = of(lines, "device_failure", execution=failed["id"], device=gone, kind="refused", **whose)
    assert len(of_run) == 2
    by_hand = [line for line in of(lines, "device_failure", device=gone) if "execution" not in line]
    assert [(line["kind"], line["transport"]) for line in by_hand] == [("refused", "cli")]
    assert by_hand[0]["request"]
    refused = Counter(line["status"] for line in of(lines, "request") if "route" not in line)
    assert refused == {400: 2}
    (line,) = of(lines, "request", route="/api/auth/login", status=401)
    assert "user" not in line
    assert not [line for line in lines if line.get("user") == "root"]


async def test_each_request_has_one_line_however_it_ends(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", variables={"NETAUTOD_LOG_FORMAT": "json"}) as service:
        client = await service.client()
        for number in range(20):
            await client.get("/api/devices", headers={"X-Request-Id": f"good-{number}"})
        await client.request("PUT", "/api/devices", headers={"X-Request-Id": "no-method"})
        host, _, port = service.url.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /api/sites HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {client.token}\r\n"
        writer.write(f"{head}X-Request-Id: left\r\nContent-Length: 100\r\n\r\n{{".encode())
        await writer.drain()
        await client.get("/api/devices")
        writer.close()
        await writer.wait_closed()
        assert await service.stop() == 0
        lines = lines_of(service)
    known = Counter(line["request"] for line in of(lines, "request"))
    assert {known[f"good-{number}"] for number in range(20)} == {1}
    assert set(known.values()) == {1}
    assert [line["status"] for line in of(lines, "request", request="no-method")] == [405]
    assert [line["status"] for line in of(lines, "request", request="left")] == [499]


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "workers"])
async def test_why_it_cannot_start_is_a_line_like_the_others(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        variables = {"NETAUTOD_SERVER_PORT": str(taken.getsockname()[1]), "NETAUTOD_LOG_FORMAT": "json"}
        ran = await run("serve", *flags, "--data-dir", str(tmp_path), variables=variables)
    assert ran.code == 1
    last = [json.loads(line) for line in ran.err.splitlines()][-1]
    assert (last["level"], last["message"].partition(" 127")[0]) == ("critical", "cannot listen on")


async def test_for_people_each_line_says_the_same(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as service:
        client = await service.client()
        await client.get("/api/devices", headers={"X-Request-Id": "find-me.1"})
        me = (await client.get("/api/auth/me")).expect()
        assert await service.stop() == 0
    found = [line for line in service.log.read_text().splitlines() if "find-me.1" in line]
    ids = f"[find-me.1 org={me['org_id']} user={me['id']}]"
    head = rf"{UTC.pattern} INFO    netautod\.http\.request_log {re.escape(ids)}"
    shown = rf"{head} GET /api/devices 200 in [\d.]+ ms"
    assert re.fullmatch(f"{shown} from 127.0.0.1", found[0])
    assert len(found) == 1


def test_the_manual_lists_the_fields() -> None:
    whole = page("operate/metrics-and-alerts.md")
    text = whole.partition("<!-- log fields -->")[2].partition("<!-- end -->")[0]
    rows = {row.split("|")[1].strip(): row.split("|")[2] for row in text.splitlines() if row.count("|") >= 3}
    everywhere = set(re.findall(r"`(\w+)`", rows["all"] + rows["of a request or run"]))
    for event, fields in EVENTS.items():
        assert set(fields) <= everywhere | set(re.findall(r"`(\w+)`", rows[f"of the event `{event}`"])), event
    assert everywhere >= {*ALWAYS, "request", "organization", "user", "execution", "trace_id", "span_id"}
