"""Strict-Transport-Security on what goes out through TLS of our own, be it the answer to a request or not."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tornado.netutil import bind_sockets

from netautod.core.metrics import Metrics
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.server import HttpServer
from netautod.http.settings import ServerSettings
from netautod.http.status.unavailable import refusing_application
from tests.support.servers.certificates import Authority


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[tuple[int, ssl.SSLContext]]:
    """Yield the port of a server that starts, and a client's context that trusts its certificate."""
    authority = Authority(tmp_path, "trusted")
    certificate, key = authority.server("http")
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ours.load_cert_chain(certificate, key)
    settings = ServerSettings(hsts_seconds=600)
    server = HttpServer(
        refusing_application(settings, "starting", Metrics()),
        connections=5,
        deadlines=Deadlines.of(settings),
        tls=ours,
    )
    listening = bind_sockets(0, "127.0.0.1")
    server.add_sockets(listening)
    yield listening[0].getsockname()[1], ssl.create_default_context(cafile=str(authority.file))
    server.stop()
    await server.close_all_connections()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 503, id="a request"
        ),
        pytest.param(b"GET /health HTTP/1.1\r\nHost\r\n\r\n", 400, id="no request"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 70_000, 431, id="too much of one"),
    ],
)
async def test_every_answer_promises(address: tuple[int, ssl.SSLContext], sent: bytes, status: int) -> None:
    port, trusting = address
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
    writer.write(sent)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\nStrict-Transport-Security: max-age=600\r\n" in head
