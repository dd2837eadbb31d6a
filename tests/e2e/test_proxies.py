"""The examples for nginx and HAProxy, with the programs themselves before two nodes."""

import asyncio
import os
import re
import shutil
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from http.client import HTTPResponse as HTTPAnswer
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.simple_httpclient import SimpleAsyncHTTPClient
from tornado.web import Application, RequestHandler

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
ANOTHER_ADDRESS = "127.0.0.2"


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
    assert not re.search(r"\b443\b", text)
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
        "NETAUTOD_SERVER_HOSTS": "netautod.example",
        "NETAUTOD_SERVER_HSTS_SECONDS": "600",
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
    """Not by what it says of itself, nor by the proxy's; a failed login is written down with the address."""
    forged = {
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": "attacker.example",
        "X-Real-Ip": "203.0.113.9",
        "Content-Type": "application/json",
    }
    body = '{"username": "admin", "password": "wrong"}'
    refused = await asyncio.to_thread(_from_another_address, site, "POST", "/api/auth/login", body, forged)
    assert refused.status == 401
    assert refused.headers["Strict-Transport-Security"] == "max-age=600"  # it came through TLS
    client = await site.nodes[0].client()
    events = (await client.get("/api/audit?action=auth.login_failed")).expect()["events"]
    assert [event["ip_address"] for event in events] == [ANOTHER_ADDRESS]


def _from_another_address(
    site: Proxied, method: str, path: str, body: str, headers: dict[str, str]
) -> HTTPAnswer:
    """Blocking; the proxy itself connects to the nodes from 127.0.0.1."""
    port = int(site.url.rpartition(":")[2])
    connection = HTTPSConnection(
        "127.0.0.1", port, timeout=60, source_address=(ANOTHER_ADDRESS, 0), context=site.trusting
    )
    with closing(connection):
        connection.request(method, path, body, headers)
        return connection.getresponse()


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
                    received = [await stream.next("execution") for _ in range(3)]
                    told = [(event.data["id"], event.data["state"]) for event in received]
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


class StubNode(RequestHandler):
    """What a node answers: `seen` has the name of the node and the path of each request."""

    def initialize(self, name: str, state: dict[str, str], seen: list[tuple[str, str]]) -> None:
        self.name, self.state, self.seen = name, state, seen

    def prepare(self) -> None:
        path, state = self.request.path, self.state[self.name]
        self.seen.append((self.name, path))
        refused = state if state == "draining" or path == "/health" else "busy" if path == "/busy" else "ok"
        self.set_header("Content-Type", "application/json")
        if refused != "ok":
            self.set_status(503)
            self.set_header("Retry-After", "7")
        self.finish({"error": refused})


@dataclass(frozen=True, kw_only=True)
class Stubs:
    """A proxy before two nodes whose state the test sets: `ok`, `draining` or `unavailable`."""

    name: str
    proxy: Proxy
    state: dict[str, str]
    seen: list[tuple[str, str]]

    async def checked(self) -> None:
        """HAProxy has asked each node twice more how it is; nginx asks nobody."""
        self.seen.clear()
        for node in self.state if self.name == "haproxy" else ():
            await eventually(partial(self._asked, node), seconds=30)

    async def _asked(self, node: str) -> bool:
        return self.seen.count((node, "/health")) >= 3


@pytest.fixture(params=PROXIES)
async def stubs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stubs]:
    state, seen = {"one": "ok", "two": "ok"}, list[tuple[str, str]]()
    urls, servers = [], []
    for name in state:
        [listener] = bind_sockets(0, "127.0.0.1")
        given = {"name": name, "state": state, "seen": seen}
        server = HTTPServer(Application(default_handler_class=StubNode, default_handler_args=given))
        server.add_socket(listener)
        servers.append(server)
        urls.append(f"http://127.0.0.1:{listener.getsockname()[1]}")
    authority = Authority(tmp_path, "authority")
    async with proxied(request.param, tmp_path, (urls[0], urls[1]), authority) as proxy:
        yield Stubs(name=request.param, proxy=proxy, state=state, seen=seen)
    for server in servers:
        server.stop()
        await server.close_all_connections()


async def test_what_one_request_is_refused_with_keeps_nobody_else_out(stubs: Stubs) -> None:
    for _ in range(4):
        refused = await stubs.proxy.ask("/busy")
        assert (refused.code, refused.headers["Retry-After"]) == (503, "7")
        assert refused.body == b'{"error": "busy"}'
        assert (await stubs.proxy.ask("/ok")).code == 200


async def test_nodes_without_a_database_say_so_themselves(stubs: Stubs) -> None:
    stubs.state.update(one="unavailable", two="unavailable")
    await stubs.checked()
    told = await stubs.proxy.ask("/health")
    assert (told.code, told.body, told.headers["Retry-After"]) == (503, b'{"error": "unavailable"}', "7")
    assert (await stubs.proxy.ask("/ok")).code == 200
    stubs.state.update(one="ok", two="ok")
    assert (await stubs.proxy.ask("/health")).code == 200


async def test_a_node_that_drains_is_no_error_to_readers(stubs: Stubs) -> None:
    """However long it takes; a change is sent once, and goes on as the node has answered it."""
    stubs.state["one"] = "draining"
    assert {(await stubs.proxy.ask("/ok")).code for _ in range(10)} == {200}
    await stubs.checked()
    stubs.seen.clear()
    codes = [(await stubs.proxy.ask("/change", method="POST", body="")).code for _ in range(10)]
    sent = [name for name, path in stubs.seen if path == "/change"]
    assert len(sent) == 10
    assert codes.count(503) == sent.count("one")
    if stubs.name == "haproxy":  # it has asked, and sends it nothing new
        assert sent.count("one") == 0
