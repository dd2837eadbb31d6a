"""The page of metrics of a running service: what is done is counted, with one process and with workers."""

import asyncio
import re
import socket
from asyncio.subprocess import PIPE, STDOUT
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from netautod.core.metrics import DECLARED
from netautod.testing import SimulatedDevice
from tests.attacks.attackers.raw import ask, raw
from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.fetching import fetch, fetch_found
from tests.support.listening import listening
from tests.support.programs.service import NotStarted, serving
from tests.support.programs.started import free_port, not_installed, program

pytestmark = pytest.mark.slow
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def promtool() -> str:
    return program("promtool") or not_installed("promtool is not installed")


def ids_in(page: str) -> list[str]:
    """Labels whose values would have no end."""
    return re.findall(r'"[0-9a-f]{8}-[0-9a-f]{4}-[^"]*"|"[^"]*\d+\.\d+\.\d+\.\d+[^"]*"', page)


def names_on(page: str) -> set[str]:
    found = re.findall(r"^# TYPE netautod_(\w+) ", page, re.MULTILINE)
    return {name.removesuffix("_total") for name in found}


async def read(port: int) -> Samples:
    """The samples, those of workers added up."""
    answer = await fetch_found(f"http://127.0.0.1:{port}/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found: Samples = defaultdict(float)
    for family in text_string_to_metric_families(answer.body.decode()):
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name != "worker"}
            found[sample.name, frozenset(labels.items())] += sample.value
    return found


def sample(name: str, **labels: str) -> Callable[[Samples], float]:
    return lambda found: found[f"netautod_{name}", frozenset(labels.items())]


LOGIN = sample("http_requests_total", method="POST", route="/api/auth/login", status="401")
GROWS = {
    "a failed login": LOGIN,
    "its event": sample("audit_events_total", action="auth.login_failed"),
    "a path without a route": sample("http_requests_total", method="GET", route="unknown", status="404"),
    "what is no request": sample("http_requests_total", method="other", route="unknown", status="400"),
    "a method without a name": sample("http_requests_total", method="other", route="unknown", status="404"),
    "an execution": sample("executions_ended_total", outcome="completed"),
    "a session that was good": sample("device_sessions_total", result="ok"),
    "a session that was refused": sample("device_sessions_total", result="refused"),
    "a device that refuses": sample("device_failures_total", transport="cli", kind="refused"),
    "the database": sample("database_command_seconds_count", command="find"),
    "turns at it": sample("database_thread_wait_seconds_count", lane="ordinary"),
    "a request's time": sample("http_request_seconds_count", route="/api/auth/login"),
    "the loop": sample("loop_lag_seconds_count"),
}


@asynccontextmanager
async def connected(url: str, token: str | None) -> AsyncIterator[None]:
    """A client that keeps its connection, and one that listens to events."""
    assert token is not None
    async with raw(url) as client, listening(url, token):
        client.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await client.answer()).status == 200
        yield


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "workers"])
async def test_what_is_done_is_counted(tmp_path: Path, flags: tuple[str, ...], promtool: str) -> None:
    """Every declared metric is on the page, in the conventions' words, and no id is in a label."""
    port = free_port()
    variables = {"NETAUTOD_METRICS_PORT": str(port)}
    async with (
        SimulatedDevice(hostname="sw1") as switch,
        serving(tmp_path / "data", *flags, variables=variables) as service,
    ):
        console = Console(client=await service.client())
        before = await read(port)
        await console.credential("lab", is_default=True)
        await console.device("sw1", switch.port)
        await console.device("gone", free_port())
        anonymous = await service.anonymous()
        await anonymous.post("/api/auth/login", {"username": "admin", "password": "wrong"})
        await anonymous.get("/nothing/here/8f2b")
        await anonymous.request("PROPFIND", "/nothing")
        assert (await ask(service.url, b"NONSENSE\r\n\r\n")).status == 400
        run = await console.run(await console.backup("nightly", "sw1"))
        assert run["state"] == "completed"
        run = await console.run(await console.backup("in vain", "gone"))
        assert run["state"] == "failed"
        async with connected(service.url, console.client.token):

            async def both() -> bool:
                found = await read(port)
                return sample("event_listeners")(found) == 1 and sample("http_connections")(found) >= 2

            await eventually(both, seconds=30)
        after = await read(port)
        for what, value in GROWS.items():
            assert value(after) > value(before), what
        slots = sample("executions_slots")(after)
        assert slots == 20 * (2 if flags else 1)
        assert not [labels for _, labels in after if any("8f2b" in value for _, value in labels)]
        page = await fetch(f"http://127.0.0.1:{port}/other")
        assert page.code == 404
        page = await fetch_found(f"http://127.0.0.1:{port}/metrics")
    checking = await asyncio.create_subprocess_exec(
        promtool, "check", "metrics", stdin=PIPE, stdout=PIPE, stderr=STDOUT
    )
    said, _ = await checking.communicate(page.body)
    assert said == b""
    assert checking.returncode == 0
    assert ids_in(page.body.decode()) == []
    assert DECLARED.keys() <= names_on(page.body.decode())


async def test_gauges_of_the_database(tmp_path: Path) -> None:
    """A paused organization: what is due stays due, and is told; and the disk of its own database is."""
    port = free_port()
    async with serving(tmp_path / "data", variables={"NETAUTOD_METRICS_PORT": str(port)}) as service:
        console = Console(client=await service.client())
        paused = await console.client.post("/api/system/pause", {"reason": "a test"})
        assert paused.status == 200
        await console.start(await console.backup("by hand", "nowhere"))

        async def pending() -> bool:
            return sample("executions_pending")(await read(port)) == 1

        await eventually(pending, seconds=30)
        page = await read(port)
        assert sample("database_disk_free_bytes")(page) > 1_000_000  # the disk is not full


async def test_a_port_that_is_taken_ends_the_start(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(NotStarted, match=f"cannot listen on metrics.host:port 127.0.0.1:{port}"):
            async with serving(tmp_path / "data", variables={"NETAUTOD_METRICS_PORT": str(port)}):
                pass
