"""A fleet of 2,000 devices: rate, processor time, memory and loop stall of one backup run.

Beside it, in the same run and on the same devices: a bare asyncssh loop that logs in, turns paging off and
reads, and nornir with netmiko in 100 threads.
"""

import importlib.util
from contextlib import AsyncExitStack
from dataclasses import dataclass

from netautod.network.devices.settings import DeviceSettings
from tests.bench.measured import netmiko_side
from tests.bench.measured.fleet import back_up, backup_task, fleet
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.processor import reset_peak, tree_cpu_seconds, tree_megabytes
from tests.bench.measuring.report import Report, percentile
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient
from tests.support.programs.service import Service

DEVICES = 2000
FARMS = 4
INTERFACES = 210  # 30 KB
LATENCY_MS = 50
THREADS = 100
PING_MS = "100"  # an answer costs the service 1 ms: more of them would be a part of what is measured
HALF = DEVICES // 2


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of one side: devices per second, and milliseconds of processor time per device."""

    rate: float
    cpu_ms: float


async def run(report: Report) -> None:
    """The first run of the task stores every config, in the second one nothing has changed."""
    report.parameter("devices", f"{DEVICES} in {FARMS} processes, 30 KB, {LATENCY_MS} ms before each answer")
    at_once = DeviceSettings().concurrent_sessions
    report.parameter("sessions at a time", at_once)
    async with AsyncExitStack() as stack:
        farm = fleet(DEVICES, FARMS, interfaces=INTERFACES, latency_ms=LATENCY_MS)
        ports = await stack.enter_async_context(farm)
        numbers = [str(port) for port in ports.values()]
        uri = await stack.enter_async_context(private_mongod())
        service, client = await stack.enter_async_context(running_service(uri))
        task_id = await backup_task(client, ports)
        bare = [await _bare("direct_reads", at_once, numbers)]
        first = await _backup(report, "first_run", service, client, task_id)
        threads = await _netmiko(report, numbers)
        again = await _backup(report, "unchanged_run", service, client, task_id)
        bare.append(await _bare("direct_reads", at_once, numbers))
    _compare(report, first=first, again=again, bare=_mean(bare), threads=threads)


async def _backup(report: Report, name: str, service: Service, client: ApiClient, task_id: str) -> Cost:
    pid = service.process.pid
    reset_peak(pid)
    idle, cpu = tree_megabytes(pid, "VmRSS"), tree_cpu_seconds(pid)
    async with child("measuring.pings", f"{service.url}/health", PING_MS) as pinging:
        seconds = await back_up(client, task_id, DEVICES)
        assert pinging.process.stdin is not None
        assert pinging.process.stdout is not None
        pinging.process.stdin.close()
        took = [float(text) for text in (await pinging.process.stdout.read()).strip(b"[]\n").split(b",")]
    report.wanted(f"{name}_health_p99", percentile(took, 0.99), "ms", "at most", 50)
    report.value(f"{name}_health_max", max(took), "ms")
    growth = tree_megabytes(pid, "VmHWM") - idle
    report.wanted(f"{name}_memory_over_idle", growth, "MB", "at most", 150)
    return _cost(report, name, seconds, tree_cpu_seconds(pid) - cpu)


async def _bare(side: str, at_once: int, ports: list[str]) -> Cost:
    async with child(f"measured.{side}", str(at_once), *ports) as done:
        return Cost(
            rate=len(ports) / done.said["seconds"], cpu_ms=done.said["cpu_seconds"] / len(ports) * 1000
        )


async def _netmiko(report: Report, ports: list[str]) -> Cost | None:
    if importlib.util.find_spec("nornir_netmiko") is None:
        report.parameter("netmiko", f"not measured: {netmiko_side.NEEDED}")
        return None
    return await _bare("netmiko_side", THREADS, ports[:HALF])


def _mean(costs: list[Cost]) -> Cost:
    count = len(costs)
    return Cost(
        rate=sum(cost.rate for cost in costs) / count, cpu_ms=sum(cost.cpu_ms for cost in costs) / count
    )


def _cost(report: Report, name: str, seconds: float, cpu_seconds: float) -> Cost:
    cost = Cost(rate=DEVICES / seconds, cpu_ms=cpu_seconds / DEVICES * 1000)
    report.value(f"{name}_rate", cost.rate, "devices/s")
    report.value(f"{name}_cpu", cost.cpu_ms, "ms/device")
    return cost


def _compare(report: Report, *, first: Cost, again: Cost, bare: Cost, threads: Cost | None) -> None:
    for name, side in (("direct_reads", bare), ("netmiko", threads)):
        if side is not None:
            report.value(f"{name}_rate", side.rate, "devices/s")
            report.value(f"{name}_cpu", side.cpu_ms, "ms/device")
    for name, ours in (("first_run", first), ("unchanged_run", again)):
        report.wanted(f"{name}_cpu_over_direct", ours.cpu_ms / bare.cpu_ms, "times", "at most", 1.6)
        report.wanted(f"{name}_rate_over_direct", ours.rate / bare.rate, "times", "at least", 0.6)
        if threads is not None:
            report.wanted(f"{name}_cpu_over_netmiko", ours.cpu_ms / threads.cpu_ms, "times", "at most", 0.5)
            report.wanted(f"{name}_rate_over_netmiko", ours.rate / threads.rate, "times", "at least", 1)
