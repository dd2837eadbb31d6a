"""Authentication: its cost on top of a bare handler, and what many logins do to each other and to others."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPResponse

from tests.bench.measured.probed_service import PASSWORD, TICK
from tests.bench.measuring.children import Child, child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.load import run_load
from tests.bench.measuring.processor import cpu_seconds
from tests.bench.measuring.report import BenchmarkError, Report, percentile

CONNECTIONS = 16
ROUNDS = 5
SECONDS = 3.0
LOGINS = 100
LOGIN_ROUNDS = 5
ALONE = 20
ARRIVALS = 200
# Of what the service can do: beyond it a queue grows for ever, just below it everybody waits.
LOAD = 0.5
WRONG_LOGINS = 40
REQUEST_TIMEOUT = 60.0


async def run(report: Report) -> None:
    """The server is a process of its own, and so are the load and the pings."""
    AsyncHTTPClient.configure(None, max_clients=2 * LOGINS)
    async with private_mongod() as uri:
        with TemporaryDirectory(prefix="netautod-bench-") as folder:
            async with child("measured.probed_service", uri, folder) as server:
                await _cost(report, server)
                await _logins(report, server)
                await _unknown_users(report, server)


async def _cost(report: Report, server: Child) -> None:
    report.parameter("cost", f"{CONNECTIONS} connections, {ROUNDS} rounds of {SECONDS:g} s on each side")
    token = (await _log_in(server, "admin", PASSWORD, expected=200))["access_token"]
    machine = await _api_token(server, token)
    sides: dict[str, tuple[str, Sequence[str]]] = {
        "bare": ("/bench/bare", ()),
        "session": ("/bench/guarded", (f"Authorization: Bearer {token}",)),
        "api_token": ("/bench/guarded", (f"Authorization: Bearer {machine}",)),
    }
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, (path, headers) in sides.items():
            before = cpu_seconds(server.process.pid)
            load = await run_load(
                server.said + path, connections=CONNECTIONS, seconds=SECONDS, headers=headers
            )
            found[name].append((cpu_seconds(server.process.pid) - before) / load.requests * 1000)
    medians = {name: report.raw(f"{name}_cpu", values, "ms/request") for name, values in found.items()}
    for name in ("session", "api_token"):
        report.wanted(f"{name}_over_bare", medians[name] - medians["bare"], "ms/request", "at most", 0.3)


async def _logins(report: Report, server: Child) -> None:
    """First all at once, then as they come: each at its time, whether those before it have ended or not."""
    report.parameter(
        "logins", f"{LOGINS} at once, {LOGIN_ROUNDS} rounds; the loop is probed each {TICK * 1000:g} ms"
    )
    await _log_in_at_once(server)  # warm: the pool of connections to the database is full now
    alone = report.raw("login_alone", [await _timed_login(server, 0.0) for _ in range(ALONE)], "ms")
    seconds: list[float] = []

    async def log_in_many() -> None:
        seconds.extend([await _log_in_at_once(server) for _ in range(LOGIN_ROUNDS)])

    busy = await _observed(server, log_in_many)
    idle = await _observed(server, lambda: asyncio.sleep(sum(seconds)))
    per_second = LOGINS / report.raw("hundred_logins", seconds, "s")
    _report_others(report, idle=idle, busy=busy)
    report.parameter("login arrivals", f"{ARRIVALS} at {LOAD:g} of the {per_second:.0f} a second that end")
    took = await _arriving_logins(server, per_second * LOAD)
    report.value("arriving_login_p50", percentile(took, 0.5), "ms")
    report.value("arriving_login_p99", percentile(took, 0.99), "ms")
    report.wanted("arriving_login_p99_over_alone", percentile(took, 0.99) / alone, "times", "at most", 10)


async def _log_in_at_once(server: Child) -> float:
    """Seconds until the last of them was answered."""
    began = time.perf_counter()
    await asyncio.gather(*(_timed_login(server, 0.0) for _ in range(LOGINS)))
    return time.perf_counter() - began


async def _arriving_logins(server: Child, per_second: float) -> list[float]:
    """Milliseconds of each login since it was due; the times between them are those of independent users."""
    chance = random.Random(1)
    moments = list(accumulate(chance.expovariate(per_second) for _ in range(ARRIVALS)))
    return list(await asyncio.gather(*(_timed_login(server, moment) for moment in moments)))


async def _timed_login(server: Child, seconds: float) -> float:
    """Milliseconds of a login that is due in so many seconds; a late start counts."""
    due = time.perf_counter() + seconds
    await asyncio.sleep(seconds)
    await _log_in(server, "admin", PASSWORD, expected=200)
    return (time.perf_counter() - due) * 1000


def _report_others(
    report: Report, *, idle: tuple[list[float], list[float]], busy: tuple[list[float], list[float]]
) -> None:
    for name, (health, stalls) in (("idle", idle), ("busy", busy)):
        report.parameter(f"{name} answers of /health", len(health))
        report.parameter(f"{name} ticks of the loop", len(stalls))
        report.value(f"{name}_health_p50", median(health), "ms")
        report.value(f"{name}_stall_p99", percentile(stalls, 0.99), "ms")
        report.value(f"{name}_stall_max", max(stalls), "ms")
    report.value("idle_health_p99", percentile(idle[0], 0.99), "ms")
    report.value("idle_stall_p99_9", percentile(idle[1], 0.999), "ms")
    report.wanted("busy_health_p99", percentile(busy[0], 0.99), "ms", "at most", 100)
    report.wanted("busy_stall_p99_9", percentile(busy[1], 0.999), "ms", "at most", 20)


async def _unknown_users(report: Report, server: Child) -> None:
    report.parameter("wrong_logins", f"{WRONG_LOGINS} of either kind, in turn")
    took: dict[str, list[float]] = {"admin": [], "nobody": []}
    for _ in range(WRONG_LOGINS):
        for name, values in took.items():
            began = time.perf_counter()
            await _log_in(server, name, "not the password", expected=401)
            values.append((time.perf_counter() - began) * 1000)
    known = report.raw("wrong_password", took["admin"], "ms")
    unknown = report.raw("unknown_user", took["nobody"], "ms")
    report.wanted("unknown_over_wrong", unknown / known, "times", "at most", 1.1)
    report.wanted("wrong_over_unknown", known / unknown, "times", "at most", 1.1)


async def _observed(server: Child, work: Callable[[], Awaitable[None]]) -> tuple[list[float], list[float]]:
    """Milliseconds of the answers of /health and of the loop's stalls while the work was done."""
    async with child("measuring.pings", f"{server.said}/health") as pings:
        await _stalls(server)
        await work()
        stalls = await _stalls(server)
        assert pings.process.stdin is not None
        assert pings.process.stdout is not None
        pings.process.stdin.close()
        line = await pings.process.stdout.read()
    health: list[float] = json.loads(line)
    return health, stalls


async def _stalls(server: Child) -> list[float]:
    answer = await AsyncHTTPClient().fetch(f"{server.said}/bench/stalls")
    stalls: list[float] = json.loads(answer.body)
    return stalls


def _login(username: str, password: str) -> dict[str, Any]:
    return {"username": username, "password": password}


async def _log_in(server: Child, username: str, password: str, *, expected: int) -> Any:
    answer = await _post(server, "/api/auth/login", _login(username, password))
    if answer.code != expected:
        raise BenchmarkError(f"a login answered {answer.code}: {answer.body!r}")
    return json.loads(answer.body)


async def _api_token(server: Child, token: str) -> str:
    body = {"name": "bench", "permissions": ["devices.access"]}
    answer = await _post(server, "/api/auth/tokens", body, {"Authorization": f"Bearer {token}"})
    machine: str = json.loads(answer.body)["token"]
    return machine


async def _post(server: Child, path: str, body: Any, headers: dict[str, str] | None = None) -> HTTPResponse:
    return await AsyncHTTPClient().fetch(
        server.said + path,
        method="POST",
        body=json.dumps(body),
        headers={"Content-Type": "application/json", **(headers or {})},
        request_timeout=REQUEST_TIMEOUT,
        raise_error=False,
    )
