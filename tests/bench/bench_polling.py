"""Polling: processor time of one device read completely, against a bare loop that drops what it walks."""

import asyncio
import os
import shlex
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from gufo.snmp.aio import SnmpSession

from netautod.plugin_api import TABLES, SnmpAccess
from netautod_snmp.agent import Rows
from netautod_snmp.collector import SnmpCollector
from netautod_snmp.gufo_agent import GufoAgent
from tests.bench.measuring.report import BenchmarkError, Report
from tests.support.execution import eventually
from tests.support.programs.started import free_ports

AGENTS = 4
DEVICES = int(os.environ.get("NETAUTOD_BENCH_DEVICES", "500"))
AT_ONCE = 50
ROUNDS = 5
REPETITIONS = 40  # as the collector asks
SYSTEM = "1.3.6.1.2.1.1"
# A process for each walk: fewer devices say how many there are in a second.
DEVICES_OF_THE_PROGRAM = 50


@dataclass(frozen=True, kw_only=True)
class _Target:
    """The part of a PollTarget that SNMP uses."""

    port: int

    async def snmp(self) -> SnmpAccess:
        return SnmpAccess(address="127.0.0.1", port=self.port, community="public")


async def run(report: Report) -> None:
    """Both sides in turn, as the machine is not equally fast all the time."""
    report.parameter("devices", f"{DEVICES} in {ROUNDS} rounds, {AT_ONCE} at once, on {AGENTS} snmpd")
    ours: list[float] = []
    bare: list[float] = []
    rates: list[float] = []
    async with _agents() as ports:
        roots = await _walked(ports[0])
        report.parameter("walks", len(roots))
        for _ in range(ROUNDS):
            cpu, seconds = await _all(ports, DEVICES // ROUNDS, _collect)
            ours.append(cpu)
            rates.append(1 / seconds)
            bare.append((await _all(ports, DEVICES // ROUNDS, lambda port: _bare(port, roots)))[0])
        program = await _all(ports, DEVICES_OF_THE_PROGRAM, lambda port: _program(port, roots))
    own = report.raw("collector_cpu", [cpu * 1000 for cpu in ours], "ms/device")
    other = report.raw("bare_cpu", [cpu * 1000 for cpu in bare], "ms/device")
    report.raw("collector_rate", rates, "devices/s")
    report.value("snmpbulkwalk_rate", 1 / program[1], "devices/s")
    report.wanted("cpu", own / other, "times", "at most", 2.5)


async def _collect(port: int) -> None:
    target: Any = _Target(port=port)
    found = await SnmpCollector().collect(target, frozenset(TABLES))
    if found.problems or not found.interfaces:
        raise BenchmarkError(f"a poll was not complete: {dict(found.problems)}")


async def _bare(port: int, roots: Iterable[str]) -> None:
    session = SnmpSession("127.0.0.1", port=port, community="public", max_repetitions=REPETITIONS)
    async with session as opened:
        for root in roots:
            async for _ in opened.getbulk(root):
                pass


async def _program(port: int, roots: Iterable[str]) -> None:
    walk = f"snmpbulkwalk -v2c -c public -m '' -On -Cr{REPETITIONS} 127.0.0.1:{port}"
    script = "; ".join(f"{walk} {shlex.quote(root)}" for root in roots)
    process = await asyncio.create_subprocess_exec("sh", "-c", script, stdout=asyncio.subprocess.DEVNULL)
    await process.wait()


async def _all(ports: list[int], devices: int, poll: Callable[[int], Awaitable[None]]) -> tuple[float, float]:
    """Seconds of this process's CPU, and of time, for one device."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with places:
            await poll(ports[number % len(ports)])

    cpu, began = time.process_time(), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(devices):
            group.create_task(one(number))
    return (time.process_time() - cpu) / devices, (time.perf_counter() - began) / devices


async def _walked(port: int) -> list[str]:
    """The roots that the collector walks on such an agent."""
    roots: list[str] = []
    original = GufoAgent.walk

    async def noting(self: GufoAgent, root: str) -> Rows:
        roots.append(root)
        return await original(self, root)

    with patch.object(GufoAgent, "walk", noting):
        await _collect(port)
    return roots


@asynccontextmanager
async def _agents() -> AsyncIterator[list[int]]:
    ports = free_ports(AGENTS)
    started = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for port in ports:
                command = shlex.split(f"snmpd -f -Lf /dev/null -C -c {_config(folder, port)} -I -smux")
                started.append(
                    await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
                )
            for port in ports:
                await eventually(partial(_answers, port), seconds=30)
            yield ports
        finally:
            for process in started:
                if process.returncode is None:
                    process.terminate()
            for process in started:
                await process.wait()


def _config(folder: str, port: int) -> Path:
    config = Path(folder, f"{port}.conf")
    config.write_text(f"agentAddress udp:127.0.0.1:{port}\nrocommunity public\n")
    return config


async def _answers(port: int) -> bool:
    access = SnmpAccess(address="127.0.0.1", port=port, community="public")
    async with GufoAgent(access).opened() as agent:
        return bool(await agent.walk(SYSTEM))
