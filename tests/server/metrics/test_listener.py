"""The listener of the metrics: the page, and what it refuses, in the form of the API."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from netautod.assembly.settings import Settings
from netautod.core.settings.metrics import MetricsSettings
from netautod.http.settings import ServerSettings
from netautod.server.metrics.listener import serving_page
from netautod.server.metrics.page import CONTENT_TYPE
from tests.attacks.attackers.raw import ask
from tests.support.programs.started import free_port


async def page() -> bytes:
    return b"netautod_up 1\n"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def url() -> AsyncIterator[str]:
    port = free_port()
    server = ServerSettings(cors_origins=("https://desk.example",))
    async with serving_page(Settings(metrics=MetricsSettings(port=port), server=server), page):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9464", "[::1]"])
async def test_the_page(url: str, host: str) -> None:
    answer = await ask(url, f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert (answer.status, answer.body) == (200, await page())
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == (CONTENT_TYPE, "no-store")


async def test_prometheus_may_ask_for_the_head_and_in_http_1_0(url: str) -> None:
    assert (await ask(url, b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")).status == 200
    assert (await ask(url, b"GET /metrics HTTP/1.0\r\n\r\n")).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/metrics", 200),
        ("GET", "/other", 404),
        ("OPTIONS", "/metrics", 405),
        ("POST", "/metrics", 403),
    ],
)
async def test_pages_that_may_call_the_api_do_not_read_it(
    url: str, method: str, path: str, status: int
) -> None:
    sent = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: https://desk.example\r\n\r\n"
    answer = await ask(url, sent.encode())
    assert answer.status == status
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    ("sent", "status", "text"),
    [
        ("GET /metrics HTTP/1.1\r\nHost: attacker.example\r\n", 421, "server.hosts"),
        ("GET /other HTTP/1.1\r\nHost: attacker.example\r\n", 421, "server.hosts"),
        ("GET /other HTTP/1.1\r\nHost: localhost\r\n", 404, "Not found"),
        ("POST /metrics HTTP/1.1\r\nHost: localhost\r\n", 405, "Method not allowed"),
        ("POST /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n", 403, "another origin"),
        ("NONSENSE\r\n", 400, "Malformed"),
    ],
)
async def test_what_it_refuses(url: str, sent: str, status: int, text: str) -> None:
    answer = await ask(url, f"{sent}\r\n".encode())
    assert (answer.status, set(answer.json)) == (status, {"error"})
    assert text in answer.json["error"]
