"""Backups: configs per second that a task of the real service reads from simulated devices and stores."""

from contextlib import AsyncExitStack

from netautod.network.devices.settings import DeviceSettings
from tests.bench.measured.fleet import back_up, backup_task, fleet
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import Report
from tests.bench.measuring.service import running_service

DEVICES = 200
FARMS = 2
ROUNDS = 3
UNIT = "backups/s"


async def run(report: Report) -> None:
    """Runs of one task and bare reads of the same devices in turn.

    The first run stores a first version of every config, in the later ones nothing has changed.
    """
    at_once = DeviceSettings().concurrent_sessions
    report.parameter("devices", f"{DEVICES} in {FARMS} processes")
    report.parameter("sessions at a time", at_once)
    report.parameter("rounds", ROUNDS)
    stored: list[float] = []
    direct: list[float] = []
    async with AsyncExitStack() as stack:
        ports = await stack.enter_async_context(fleet(DEVICES, FARMS))
        uri = await stack.enter_async_context(private_mongod())
        _, client = await stack.enter_async_context(running_service(uri))
        task_id = await backup_task(client, ports)
        for _ in range(ROUNDS):
            stored.append(DEVICES / await back_up(client, task_id, DEVICES))
            arguments = (str(at_once), *map(str, ports.values()))
            async with child("measured.direct_reads", *arguments) as reads:
                direct.append(DEVICES / reads.said["seconds"])
    report.value("first_run", stored[0], UNIT)
    ours = report.raw("netautod", stored, UNIT)
    others = report.raw("direct_reads", direct, "reads/s")
    report.wanted("over_direct_reads", ours / others, "times", "at least", 0.5)
