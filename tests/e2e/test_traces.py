"""Traces of a running service, sent by the real SDK to a collector of the test's own."""

import asyncio
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from socket import gethostname
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.programs.service import environment, run, serving
from tests.support.programs.started import free_port
from tests.support.servers.otlp import Collector, ReceivedSpan, collecting

pytestmark = pytest.mark.slow
SERVER, CLIENT, CONSUMER = 2, 3, 5  # SpanKind of opentelemetry/proto/trace/v1/trace.proto
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{CALLER}-01"


def sending(collector: Collector) -> dict[str, str]:
    return {"NETAUTOD_TELEMETRY_OTLP_ENDPOINT": collector.url, "NETAUTOD_LOG_FORMAT": "json"}


def one(spans: list[ReceivedSpan]) -> ReceivedSpan:
    (span,) = spans
    return span


async def test_a_request_an_execution_and_its_sessions_are_one_trace(tmp_path: Path) -> None:
    async with (
        collecting() as collector,
        SimulatedDevice(hostname="sw1") as switch,
        serving(tmp_path / "data", variables=sending(collector)) as service,
    ):
        client = await service.client()
        console = Console(client=client)
        await console.credential("lab", is_default=True)
        device = await console.device("sw1", switch.port)
        task = await console.backup("nightly", "sw1")
        started = await client.post(
            f"/api/tasks/schedules/{task}/run", headers={"traceparent": TRACEPARENT, "X-Request-Id": "r1"}
        )
        execution = await console.ended(started.json["id"])
        gone = await console.device("gone", free_port())
        failed = await console.run(await console.backup("in vain", "gone"))
        bad = {"traceparent": "00-zz-nothing-01", "X-Request-Id": "r2"}
        await client.get("/api/devices?search=hunter2", headers=bad)
        unsampled = {"traceparent": f"00-{TRACE}-{CALLER}-00", "X-Request-Id": "r3"}
        await client.get("/api/devices", headers=unsampled)
        me = await console.read("/api/auth/me")
        password, token = service.password, str(client.token)
        assert await service.stop() == 0
        whose = {"netautod__organization": me["org_id"], "user__id": me["id"]}
        request = one(collector.of(netautod__request="r1", **whose))
        assert (request.name, request.kind) == ("POST /api/tasks/schedules/:id/run", SERVER)
        assert (request.trace_id, request.parent) == (TRACE, CALLER)
        assert request.attributes["http.response.status_code"] == 202
        ran = one(collector.of(netautod__execution=execution["id"], **whose))
        assert (ran.name, ran.kind, ran.failed) == ("execution backup", CONSUMER, False)
        assert (ran.trace_id, ran.parent) == (TRACE, request.span_id)
        session = one(collector.of(netautod__device=device, **whose))
        assert (session.name, session.kind, session.failed) == ("device cli", CLIENT, False)
        assert (session.trace_id, session.parent) == (TRACE, ran.span_id)
        in_vain = one(collector.of(netautod__execution=failed["id"]))
        assert (in_vain.failed, in_vain.attributes["error.type"]) == (True, "failed")
        refused = one(collector.of(netautod__device=gone))
        assert (refused.parent, refused.attributes["error.type"]) == (in_vain.span_id, "refused")
        alone = one(collector.of(netautod__request="r2"))
        assert alone.parent == ""
        assert alone.trace_id != TRACE
        assert collector.of(netautod__request="r3") == []  # the client's decision
        resource = collector.resources[0]
        assert (resource["service.name"], resource["host.name"]) == ("netautod", gethostname())
        assert UUID(str(resource["service.instance.id"])).version == 4
    sent = b"".join(collector.bodies)
    for secret in (password, token, "hunter2", "simulated"):
        assert secret.encode() not in sent
    assert f'"trace_id": "{TRACE}", "span_id": "{ran.span_id}"' in service.log.read_text()


def statuses_of(url: str, requests: int) -> set[int]:
    """Of so many requests that are not limited, one after the other on one connection."""
    parts, found = urlsplit(url), set[int]()
    with closing(HTTPConnection(str(parts.hostname), parts.port, timeout=60)) as connection:
        for _ in range(requests):
            connection.request("GET", "/health")
            with connection.getresponse() as answer:
                found.add(answer.status)
                answer.read()
    return found


@pytest.mark.parametrize("hangs", [True, False], ids=["it hangs", "it is not there"])
async def test_a_dead_collector_holds_nothing_up(tmp_path: Path, hangs: bool) -> None:
    """More spans than the queue holds; the stop takes no longer than the limit for the last spans."""
    async with collecting(hangs=hangs) as collector:
        variables = sending(collector)
        if not hangs:
            variables["NETAUTOD_TELEMETRY_OTLP_ENDPOINT"] = f"http://127.0.0.1:{free_port()}"
        async with serving(tmp_path / "data", variables=variables) as service:
            assert await asyncio.to_thread(statuses_of, service.url, 3000) == {200}
            if hangs:
                async with asyncio.timeout(60):
                    await collector.asked.wait()
            await asyncio.to_thread(statuses_of, service.url, 1)  # one more that waits to be sent
            assert await service.stop() == 0
        log = service.log.read_text()
        assert "the event loop is held up" not in log
        assert not hangs or "the last traces could not be sent within 3 s" in log


IMPORTED = """
import sys
from netautod.cli.entry import main
code = main(["check-config"])
print([name for name in sys.modules if name.startswith("opentelemetry")])
sys.exit(code)
"""
# A finder that has no OpenTelemetry: as where the extra is not installed.
WITHOUT = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without())
from netautod.cli.entry import main
sys.exit(main(sys.argv[1:]))
"""


def python(text: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", text, *arguments]
    env = environment(**variables)
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_nothing_is_imported_without_an_endpoint() -> None:
    ran = python(IMPORTED)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "[]")


@pytest.mark.parametrize("command", ["check-config", "serve"])
def test_a_missing_extra_is_one_clear_line(tmp_path: Path, command: str) -> None:
    endpoint = {"NETAUTOD_TELEMETRY_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    ran = python(WITHOUT, command, "--data-dir", str(tmp_path), **endpoint)
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        "netautod: telemetry.otlp_endpoint is set, but OpenTelemetry is not installed: "
        "pip install 'netautod[telemetry]'"
    ]
    assert python(WITHOUT, "check-config", "--data-dir", str(tmp_path)).returncode == 0


@pytest.mark.parametrize(
    ("endpoint", "text"),
    [
        pytest.param("collector:4318", "must be a URL", id="no URL"),
        pytest.param("grpc://collector:4317", "must be a URL", id="gRPC"),
        pytest.param("http://collector:port", "must be a URL", id="no port"),
        pytest.param("http://me:secret@collector", "must hold no login", id="a login"),
        pytest.param("http://collector/?x=1", "must end with its path", id="a query"),
        pytest.param("http://collector/v1/traces/", "must be the collector's address", id="a signal's path"),
    ],
)
async def test_a_wrong_endpoint_is_named(endpoint: str, text: str) -> None:
    ran = await run("check-config", variables={"NETAUTOD_TELEMETRY_OTLP_ENDPOINT": endpoint})
    assert ran.code == 2
    assert f"telemetry.otlp_endpoint {text}" in ran.err
    assert "secret" not in ran.err


async def test_traces_in_clear_are_a_risk() -> None:
    ran = await run("check-config", variables={"NETAUTOD_TELEMETRY_OTLP_ENDPOINT": "http://192.0.2.1:4318"})
    assert (ran.code, "traces-in-clear" in ran.err) == (0, True)
