"""Backups: configs per second that a task of the real service reads from simulated devices and stores."""

import asyncio
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any

from netautod.settings import Devices
from tests.bench.children import child
from tests.bench.databases import private_mongod
from tests.bench.device_farm import PASSWORD, USERNAME
from tests.bench.errors import BenchmarkError
from tests.bench.report import Report
from tests.bench.service import running_service
from tests.support.client import ApiClient

DEVICES = 200
FARMS = 2
ROUNDS = 3
POLL_SECONDS = 0.25
RUN_SECONDS = 120.0
UNIT = "backups/s"


async def run(report: Report) -> None:
    """Runs of one task and bare reads of the same devices in turn.

    The first run stores a first version of every config, in the later ones nothing has changed.
    """
    at_once = Devices().concurrent_sessions
    report.parameter("devices", f"{DEVICES} in {FARMS} processes")
    report.parameter("sessions at a time", at_once)
    report.parameter("rounds", ROUNDS)
    stored: list[float] = []
    direct: list[float] = []
    async with AsyncExitStack() as stack:
        ports: dict[str, int] = {}
        for number in range(FARMS):
            farm = child("device_farm", str(DEVICES // FARMS), f"farm{number}-switch")
            ports |= (await stack.enter_async_context(farm)).said
        uri = await stack.enter_async_context(private_mongod())
        _, client = await stack.enter_async_context(running_service(uri))
        task_id = await _task(client, ports)
        for _ in range(ROUNDS):
            stored.append(DEVICES / await _backup(client, task_id))
            arguments = (str(at_once), *map(str, ports.values()))
            async with child("direct_reads", *arguments) as reads:
                direct.append(DEVICES / reads.said)
    report.value("first_run", stored[0], UNIT)
    ours = report.raw("netautod", stored, UNIT)
    report.value("over_direct_reads", ours / report.raw("direct_reads", direct, "reads/s"), "times")


async def _task(client: ApiClient, ports: dict[str, int]) -> str:
    """A credential, the devices and the task, by the API."""
    credential = await _made(
        client,
        "/api/credentials",
        {
            "name": "bench",
            "credential_type": "ssh_password",
            "username": USERNAME,
            "secret": PASSWORD,
            "allowed_hosts": ["127.0.0.0/8"],
        },
    )
    for name, port in ports.items():
        device = {
            "name": name,
            "host": "127.0.0.1",
            "port": port,
            "device_type": "cisco_ios",
            "default_credential_id": credential,
        }
        await _made(client, "/api/devices", device)
    task = {
        "name": "all",
        "task_type": "backup",
        "cron_expression": "0 0 29 2 *",
        "timezone": "UTC",
        "parameters": {},
        "max_retries": 0,
    }
    return await _made(client, "/api/tasks/schedules", task)


async def _made(client: ApiClient, path: str, body: dict[str, Any]) -> str:
    answer = await client.post(path, body)
    if answer.status != 201:
        raise BenchmarkError(f"POST {path}: {answer.status} {answer.content!r}")
    made: str = answer.json["id"]
    return made


async def _backup(client: ApiClient, task_id: str) -> float:
    """Seconds of one run, by the service's own times."""
    run = (await client.post(f"/api/tasks/schedules/{task_id}/run")).json
    async with asyncio.timeout(RUN_SECONDS):
        while run["completed_at"] is None:
            await asyncio.sleep(POLL_SECONDS)
            run = (await client.get(f"/api/tasks/executions/{run['id']}")).json
    if run["state"] != "completed" or run["output"]["succeeded"] != DEVICES:
        raise BenchmarkError(f"the backup ended as {run['state']}: {run['error_message']}")
    started, completed = (datetime.fromisoformat(run[name]) for name in ("started_at", "completed_at"))
    return (completed - started).total_seconds()
