"""Connections: how others are served while strangers hold all of a node's connections without using them."""

import asyncio
from contextlib import AsyncExitStack, suppress

from netautod.http.settings import LimitSettings
from tests.attacks.attackers.crowds import BEGINNINGS
from tests.attacks.attackers.raw import Garbled, RawClient, raw
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import Report, percentile
from tests.bench.measuring.service import running_service

CROWD = 2500
CLIENTS = 16
ROUNDS = 30
ASKED = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
SOURCES = {
    "one_address": ["127.0.0.2"],
    "many_addresses": [f"127.0.{number // 200 + 1}.{number % 200 + 1}" for number in range(1000)],
}


async def run(report: Report) -> None:
    report.parameter("connections", LimitSettings().connections)
    report.parameter("crowd", CROWD)
    report.parameter("clients", f"{CLIENTS} at another address, a new connection for each request")
    # The limit per address would spare the node most of the crowd's requests.
    async with private_mongod() as uri, running_service(uri) as (service, _):
        await _measured(report, service.url, "nobody", [], b"")
        for where, sources in SOURCES.items():
            for what, beginning in BEGINNINGS.items():
                await _measured(report, service.url, f"{where}.{what.replace(' ', '_')}", sources, beginning)


async def _measured(report: Report, url: str, name: str, sources: list[str], beginning: bytes) -> None:
    async with AsyncExitStack() as stack:
        crowd = CROWD if sources else 0
        held = [await _held(stack, url, sources, number, beginning) for number in range(crowd)]
        took = sorted(
            second
            for seconds in await asyncio.gather(*(_asks(url) for _ in range(CLIENTS)))
            for second in seconds
        )
        report.value(f"{name}.held", sum(not client.ended for client in held), "connections")
        wanted = CLIENTS * ROUNDS
        report.wanted(f"{name}.served", len(took), f"of {wanted} requests", "at least", wanted)
        report.value(f"{name}.p50", percentile(took, 0.50) * 1000, "ms")
        report.value(f"{name}.p99", percentile(took, 0.99) * 1000, "ms")


async def _held(
    stack: AsyncExitStack, url: str, sources: list[str], number: int, beginning: bytes
) -> RawClient:
    client = await stack.enter_async_context(raw(url, source=sources[number % len(sources)]))
    client.send(beginning)
    return client


async def _asks(url: str) -> list[float]:
    """The seconds of each answer, with the connection that was made for it."""
    clock, took = asyncio.get_running_loop().time, []
    for _ in range(ROUNDS):
        began = clock()
        # Who is turned away may be told so by a reset.
        with suppress(ConnectionError, Garbled):
            async with raw(url) as client:
                client.send(ASKED)
                if (await client.answer()).status == 200:
                    took.append(clock() - began)
    return took
