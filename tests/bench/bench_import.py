"""Imports: rows per second of a CSV against a bare insert_many, stalls of the loop, memory of 100,000 rows.

The service is a process of its own with a probe of its loop. The bare side inserts the very documents that
the service has just made, under new ids, into a collection with the same indexes of another database on the
same mongod, in one call and with the same durability.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from tornado.httpclient import AsyncHTTPClient, HTTPResponse

from netautod.network.devices.records.queries import COLLECTION, INDEXES
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.bench.measured.probed_service import PASSWORD
from tests.bench.measuring.children import Child, child
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.processor import reset_peak, tree_megabytes
from tests.bench.measuring.report import BenchmarkError, Report

DATABASE = "auth"  # of the server that the benchmark of authentication has
ROWS = 10_000
ROUNDS = 5
MANY_ROWS = 100_000
REQUEST_TIMEOUT = 300.0
UNIT = "rows/s"
HEADER = "Name;Host;Device_Type;Port;Manufacturer;Model;Site;Description;Serial_Number;Tags;Rack"


async def run(report: Report) -> None:
    report.parameter("rows", f"{ROWS} a round, {ROUNDS} rounds of each side in turn")
    report.parameter("columns", HEADER.count(";") + 1)
    report.parameter("durability", "majority and journaled on both sides")
    AsyncHTTPClient.configure(None, max_body_size=64 * 1024 * 1024)
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with private_mongod() as uri, child("measured.probed_service", uri, folder) as server:
            token = await _log_in(server)
            await _import(server, token, "warm", ROWS)
            await _rates(report, uri, server, token)
            await _stalls(report, server, token)
            await _memory(report, server, token)


async def _rates(report: Report, uri: str, server: Child, token: str) -> None:
    rates: dict[str, list[float]] = {"netautod": [], "bare": [], "dry_run": []}
    service = connect(uri, DATABASE)
    try:
        async with fresh_database(uri, INDEXES) as bare:
            for number in range(ROUNDS):
                rates["dry_run"].append(ROWS / await _import(server, token, f"r{number}", ROWS, dry=True))
                rates["netautod"].append(ROWS / await _import(server, token, f"r{number}", ROWS))
                rates["bare"].append(ROWS / await _bare(service, bare, f"r{number}"))
    finally:
        service.close()
    ours, other, _ = (report.raw(side, found, UNIT) for side, found in rates.items())
    report.wanted("over_bare", ours / other, "times", "at least", 0.3)
    report.wanted("seconds_of_10000_rows", ROWS / ours, "s", "at most", 60)


async def _bare(service: Database, bare: Database, prefix: str) -> float:
    first = {"name": {"$gte": f"{prefix}-", "$lt": f"{prefix}."}}
    made = await service.collection(COLLECTION).find(first)
    if len(made) != ROWS:
        raise BenchmarkError(f"{len(made)} devices of the round are there instead of {ROWS}")
    copies = [{**document, "_id": str(uuid4())} for document in made]
    began = time.perf_counter()
    await bare.collection(COLLECTION).insert_many(copies)
    return time.perf_counter() - began


async def _stalls(report: Report, server: Child, token: str) -> None:
    """The longest one of each import, and of as long a time in which the same loop has nothing to do.

    The median of several imports is held to the target. `worked` is what is left of them without the time in
    which the process waited for a processor, which others may have.
    """
    idle, late, worked = [], [], []
    for number in range(ROUNDS):
        await _longest(server)
        seconds = await _import(server, token, f"s{number}", ROWS)
        worked.append(await _longest(server, "worked_stalls"))
        late.append(await _longest(server))
        await asyncio.sleep(seconds)
        idle.append(await _longest(server))
        await _longest(server, "worked_stalls")
    report.raw("longest_idle_stall_of_a_round", idle, "ms")
    report.raw("longest_worked_stall_of_a_round", worked, "ms")
    stall = report.raw("longest_stall_of_a_round", late, "ms")
    report.wanted("longest_stall", stall, "ms", "at most", 20)


async def _memory(report: Report, server: Child, token: str) -> None:
    """The highest resident size during one import, over the size before it; earlier imports were a tenth."""
    reset_peak(server.process.pid)
    before = tree_megabytes(server.process.pid, "VmRSS")
    await _longest(server)
    seconds = await _import(server, token, "many", MANY_ROWS)
    growth = tree_megabytes(server.process.pid, "VmHWM") - before
    report.parameter("body of the large import", f"{len(_csv('many', MANY_ROWS)) / 1e6:.1f} MB")
    report.value("large_rows", MANY_ROWS / seconds, UNIT)
    report.value("large_stall_max", await _longest(server), "ms")
    report.wanted("large_growth", growth, "MB", "at most", 100)


def _csv(prefix: str, rows: int) -> bytes:
    return "\r\n".join((HEADER, *_lines(prefix, rows))).encode("utf-8-sig")


def _lines(prefix: str, rows: int) -> Iterator[str]:
    for number in range(rows):
        host = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        yield (
            f"{prefix}-{number};{host};cisco_ios;22;Cisco;C9300-48P;plant {number % 40};floor {number % 7}, "
            f'"north";FOC{number:08};access|floor-{number % 7};R{number % 90}'
        )


async def _import(server: Child, token: str, prefix: str, rows: int, *, dry: bool = False) -> float:
    body = _csv(prefix, rows)
    path = "/api/devices/import/csv" + ("?dry_run=true" if dry else "")
    began = time.perf_counter()
    answer = await _post(server, path, body, {"Authorization": f"Bearer {token}", "Content-Type": "text/csv"})
    took = time.perf_counter() - began
    result: dict[str, Any] = json.loads(answer.body)
    if result != {"imported": rows, "failed": 0, "errors": []}:
        raise BenchmarkError(f"the import answered {answer.body[:300]!r}")
    return took


async def _log_in(server: Child) -> str:
    login = json.dumps({"username": "admin", "password": PASSWORD}).encode()
    token: str = json.loads((await _post(server, "/api/auth/login", login, {})).body)["access_token"]
    return token


async def _longest(server: Child, route: str = "stalls") -> float:
    """Milliseconds by which the loop was late at most since the last asking."""
    found: list[float] = json.loads((await AsyncHTTPClient().fetch(f"{server.said}/bench/{route}")).body)
    return max(found)


async def _post(server: Child, path: str, body: bytes, headers: dict[str, str]) -> HTTPResponse:
    return await AsyncHTTPClient().fetch(
        server.said + path,
        method="POST",
        body=body,
        headers=headers,
        request_timeout=REQUEST_TIMEOUT,
        raise_error=False,
    )
