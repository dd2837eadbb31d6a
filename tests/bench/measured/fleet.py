"""A fleet of simulated switches in processes of their own, and the task that backs it up over the API."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any

from tests.bench.measured.device_farm import PASSWORD, USERNAME
from tests.bench.measuring.children import child
from tests.bench.measuring.report import BenchmarkError
from tests.support.client import ApiClient

POLL_SECONDS = 0.25
RUN_SECONDS = 600.0


@asynccontextmanager
async def fleet(
    devices: int, farms: int, *, interfaces: int = 24, latency_ms: int = 0
) -> AsyncIterator[dict[str, int]]:
    """Ports by device name; the devices are spread evenly over `farms` processes."""
    async with AsyncExitStack() as stack:
        ports: dict[str, int] = {}
        for number in range(farms):
            arguments = (str(devices // farms), f"farm{number}-switch", str(interfaces), str(latency_ms))
            ports |= (await stack.enter_async_context(child("measured.device_farm", *arguments))).said
        yield ports


async def backup_task(client: ApiClient, ports: Mapping[str, int]) -> str:
    """A credential, the devices and a task that nothing but a call fires."""
    await add_devices(client, ports)
    return await add_backup(client, "all", {})


async def add_devices(
    client: ApiClient, ports: Mapping[str, int], *, site_of: Mapping[str, str] | None = None
) -> None:
    """With their credential, at their sites, or each at one of its own name."""
    sites = site_of or {name: name for name in ports}
    credential = {
        "name": "bench",
        "credential_type": "ssh_password",
        "username": USERNAME,
        "secret": PASSWORD,
        "allowed_hosts": ["127.0.0.0/8"],
    }
    common = {
        "host": "127.0.0.1",
        "device_type": "cisco_ios",
        "default_credential_id": await _made(client, "/api/credentials", credential),
    }
    for name, port in ports.items():
        await _made(client, "/api/devices", {**common, "name": name, "site": sites[name], "port": port})


async def add_backup(client: ApiClient, name: str, parameters: Mapping[str, Any]) -> str:
    """A task that nothing but a call fires."""
    task = {
        "name": name,
        "task_type": "backup",
        "cron_expression": "0 0 29 2 *",
        "timezone": "UTC",
        "parameters": parameters,
        "max_retries": 0,
    }
    return await _made(client, "/api/tasks/schedules", task)


async def back_up(client: ApiClient, task_id: str, devices: int) -> float:
    """Seconds of one run, by the service's own times."""
    run = (await client.post(f"/api/tasks/schedules/{task_id}/run")).json
    async with asyncio.timeout(RUN_SECONDS):
        while run["completed_at"] is None:
            await asyncio.sleep(POLL_SECONDS)
            run = (await client.get(f"/api/tasks/executions/{run['id']}")).json
    if run["state"] != "completed" or run["output"]["succeeded"] != devices:
        raise BenchmarkError(f"the backup ended as {run['state']}: {run['error_message']}")
    started, completed = (datetime.fromisoformat(run[name]) for name in ("started_at", "completed_at"))
    return (completed - started).total_seconds()


async def _made(client: ApiClient, path: str, body: dict[str, Any]) -> str:
    answer = await client.post(path, body)
    if answer.status != 201:
        raise BenchmarkError(f"POST {path}: {answer.status} {answer.content!r}")
    made: str = answer.json["id"]
    return made
