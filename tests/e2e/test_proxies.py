"""The examples for nginx and HAProxy, with the programs themselves before two nodes."""

import asyncio
import os
import shutil
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from netautod.store.client import Database
from tests.support.execution import eventually
from tests.support.listening import listening
from tests.support.programs.service import Service, serving
from tests.support.programs.started import free_port, started
from tests.support.servers.certificates import Authority

pytestmark = pytest.mark.slow
CONFIG = Path(__file__).parents[2] / "config"
CLIENTS, AFTERWARDS = 8, 50
LARGE = 3_000_000


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A proxy that runs, and a client that asks it."""

    url: str
    trusting: ssl.SSLContext

    async def ask(self, path: str, *, method: str = "GET", **more: Any) -> HTTPResponse:
        request = HTTPRequest(
            f"{self.url}{path}", method=method, ssl_options=self.trusting, request_timeout=60, **more
        )
        client = SimpleAsyncHTTPClient(force_instance=True, max_body_size=10 * LARGE)
        try:
            return await client.fetch(request, raise_error=False)
        finally:
            client.close()


@dataclass(frozen=True, kw_only=True)
class Proxied(Proxy):
    """With two nodes behind it."""

    nodes: tuple[Service, Service]


def nginx(folder: Path, program: str, text: str) -> tuple[str, ...]:
    """In the foreground, with its files in the folder."""
    places = f"pid {folder}/pid; error_log stderr warn; daemon off; "
    temporary = "".join(
        f"{name}_temp_path {folder}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = text.replace("http {", f"http {{ access_log off; {temporary}")
    (folder / "proxy.conf").write_text(places + text)
    return (program, "-c", str(folder / "proxy.conf"), "-e", "stderr")


def haproxy(folder: Path, program: str, text: str) -> tuple[str, ...]:
    (folder / "proxy.conf").write_text(text)
    return (program, "-db", "-f", str(folder / "proxy.conf"))


PROXIES: dict[str, tuple[str, Callable[[Path, str, str], tuple[str, ...]]]] = {
    "nginx": ("nginx.conf", nginx),
    "haproxy": ("haproxy.cfg", haproxy),
}


@asynccontextmanager
async def proxied(
    name: str, folder: Path, nodes: tuple[str, str], authority: Authority
) -> AsyncIterator[Proxy]:
    """`nodes` are their URLs."""
    program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{name} is not installed")
    certificate, key = authority.server("proxy")
    (folder / "tls.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    file, command = PROXIES[name]
    port, text = free_port(), (CONFIG / file).read_text()
    for old, new in (
        ("127.0.0.1:8081", nodes[0].removeprefix("http://")),
        ("127.0.0.1:8082", nodes[1].removeprefix("http://")),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("127.0.0.1:443 ssl", f"127.0.0.1:{port} ssl"),
        ("/etc/netautod/tls.crt", str(certificate)),
        ("/etc/netautod/tls.key", str(key)),
        ("/etc/netautod/tls.pem", str(folder / "tls.pem")),
    ):
        text = text.replace(old, new)
    assert "443" not in text.replace(str(port), "")
    async with started(*command(folder, program, text), log=folder / "proxy.log"):
        there = Proxy(
            url=f"https://127.0.0.1:{port}",
            trusting=ssl.create_default_context(cafile=str(authority.file)),
        )

        async def answers() -> bool:
            try:
                return (await there.ask("/health")).code == 200
            except OSError:  # it does not listen yet
                return False

        await eventually(answers, seconds=30)
        yield there


@pytest.fixture(params=PROXIES)
async def site(
    request: pytest.FixtureRequest, tmp_path: Path, mongo_uri: str, database: Database
) -> AsyncIterator[Proxied]:
    place = {
        "NETAUTOD_MONGODB_URI": mongo_uri,
        "NETAUTOD_MONGODB_DATABASE": database.name,
        "NETAUTOD_SERVER_BEHIND_PROXY": "true",
        "NETAUTOD_SERVER_TRUSTED_PROXIES": "127.0.0.1",
        "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0",
    }
    folder, two = tmp_path / "proxy", tmp_path / "two"
    folder.mkdir()
    async with serving(tmp_path / "one", variables=place) as first:
        two.mkdir()
        shutil.copy(tmp_path / "one" / "master.key", two / "master.key")
        async with serving(two, variables=place) as second:
            authority = Authority(tmp_path, "authority")
            async with proxied(request.param, folder, (first.url, second.url), authority) as there:
                yield Proxied(url=there.url, trusting=there.trusting, nodes=(first, second))


async def test_the_client_is_known_by_its_own_address(site: Proxied) -> None:
    """Not by what it says of itself; a failed login is written down with the address."""
    forged = {
        "X-Forwarded-For": "203.0.113.9",
        "X-Real-Ip": "203.0.113.9",
        "Content-Type": "application/json",
    }
    body = '{"username": "admin", "password": "wrong"}'
    refused = await site.ask("/api/auth/login", method="POST", headers=forged, body=body)
    assert refused.code == 401
    client = await site.nodes[0].client()
    events = (await client.get("/api/audit?action=auth.login_failed")).expect()["events"]
    assert [event["ip_address"] for event in events] == ["127.0.0.1"]


async def test_a_long_answer_goes_through_whole(site: Proxied) -> None:
    client = await site.nodes[0].client()
    content = "0123456789abcdef" * (LARGE // 16)
    made = await client.post(
        "/api/docs", {"name": "long", "category": "notes", "content_type": "text", "content": content}
    )
    document = made.expect(201)["id"]
    token = {"Authorization": f"Bearer {client.token}"}
    answer = await site.ask(f"/api/docs/{document}", headers=token)
    assert answer.code == 200
    assert content in answer.body.decode()


async def test_an_event_goes_out_before_the_next_one_comes(site: Proxied) -> None:
    """And the stream of a node that is stopped ends at once and goes on at the other one."""
    client = await site.nodes[0].client()
    made = {"name": "none", "task_type": "backup", "cron_expression": "0 0 1 1 *", "enabled": False}
    made |= {"parameters": {"device_filter": {"site": "none"}}}
    task = (await client.post("/api/tasks/schedules", made)).expect(201)["id"]
    run = f"/api/tasks/schedules/{task}/run"
    listen = partial(listening, site.url, client.token, trusting=site.trusting)
    async with listen() as first:
        async with listen() as second:
            for _ in range(2):
                execution = (await client.post(run)).expect(202)["id"]
                for stream in (first, second):
                    heard = [await stream.next("execution") for _ in range(3)]
                    told = [(event.data["id"], event.data["state"]) for event in heard]
                    assert told == [(execution, state) for state in ("pending", "running", "completed")]
        # Proxies give the two of them to different nodes, or both to the second.
        last, other = first.last_id, await site.nodes[1].client("admin", site.nodes[0].password)
        assert await site.nodes[0].stop() == 0
        execution = (await other.post(run)).expect(202)["id"]
    async with listen(last_id=last) as again:
        assert [(await again.next()).data["id"] for _ in range(3)] == [execution] * 3


async def test_a_node_is_stopped_under_load_without_an_error(site: Proxied) -> None:
    client = await site.nodes[1].client("admin", site.nodes[0].password)
    token = {"Authorization": f"Bearer {client.token}"}
    codes: list[int] = []
    gone = asyncio.Event()

    async def ask() -> None:
        left = AFTERWARDS
        while left:
            codes.append((await site.ask("/api/devices", headers=token)).code)
            left -= gone.is_set()

    asking = [asyncio.create_task(ask()) for _ in range(CLIENTS)]
    await eventually(lambda: _many(codes))
    assert await site.nodes[0].stop() == 0
    gone.set()
    await asyncio.gather(*asking)
    assert set(codes) == {200}
    assert len(codes) > CLIENTS * AFTERWARDS


async def _many(codes: list[int]) -> bool:
    return len(codes) > CLIENTS * 5
