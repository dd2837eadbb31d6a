"""Requests that are answered without a handler of a route are counted as every other one is."""

import pytest

from netautod.core.metrics import NONE, Metrics
from netautod.http.settings import ServerSettings
from netautod.http.status.unavailable import refusing_application
from tests.attacks.attackers.raw import ask, raw
from tests.http.connections.test_server import QUICK, served
from tests.server.test_draining import node
from tests.support.serving import serve_application

BODY = b"POST /slow-check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def requests(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """Return how many there were, by method, route and status."""
    return {
        one.labels: one.value
        for one in metrics.series()
        if one.name == "http_requests" and isinstance(one.value, float | int) and one.labels != NONE
    }


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"NONSENSE\r\n\r\n", 400, id="a malformed line"),
        pytest.param(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 100_000, 431, id="100 KB of headers"
        ),
    ],
)
async def test_what_never_becomes_a_request_is_counted(sent: bytes, status: int) -> None:
    async with served() as one:
        assert (await ask(one.url, sent)).status == status
        assert requests(one.server.metrics) == {("other", "unknown", str(status)): 1}


async def test_a_head_that_does_not_come_to_its_end_is_counted() -> None:
    async with served(header_timeout=2.0) as one, raw(one.url) as client:
        client.send(QUICK[:9])
        assert (await client.answer()).status == 408
        assert requests(one.server.metrics) == {("other", "unknown", "408"): 1}


async def test_a_body_that_is_malformed_is_counted_by_its_handler_alone() -> None:
    async with served() as one:
        one.work.may_end.set()
        assert (await ask(one.url, BODY + b"no size\r\n")).status == 400
        await one.until_all_are_disconnected()
        assert requests(one.server.metrics) == {("POST", "/slow-check", "499"): 1}


async def test_a_node_that_starts_counts_for_the_node() -> None:
    metrics = Metrics()
    server, url = serve_application(refusing_application(ServerSettings(), "starting", metrics))
    try:
        assert (await ask(url, QUICK)).status == 503
        assert (await ask(url, b"NONSENSE\r\n\r\n")).status == 400
    finally:
        server.stop()
        await server.close_all_connections()
    assert requests(metrics) == {("GET", "unknown", "503"): 1, ("other", "unknown", "400"): 1}


async def test_a_node_that_stops_counts_for_the_node() -> None:
    async with node() as stopping:
        metrics = stopping.server.metrics
        async with stopping.draining_while():
            assert (await ask(stopping.url, QUICK)).status == 503
        assert requests(metrics) == {("GET", "unknown", "503"): 1}
