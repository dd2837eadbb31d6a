"""All long work at once, each at its bound, while 16 clients read /health; beside it the idle service.

There is no TextFSM in it: the service parses nothing with templates of that kind.
"""

import asyncio
import random
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from netautod.core.identity.caller import OrgId
from netautod.store.connection import connect
from tests.bench.bench_bodies import READERS, UNDESCRIBED, logged_in
from tests.bench.measured.probed_service import DATABASE
from tests.bench.measured.stored_configs import stored_in
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.health_readers import HealthReaders
from tests.bench.measuring.report import Report, percentile
from tests.support.all_at_once import Asked, going_on, works
from tests.support.client import ApiClient

LINES = 40_000
SECONDS = 15.0
MOST_P99 = 200.0


async def run(report: Report) -> None:
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with private_mongod() as uri, child("measured.probed_service", uri, folder) as server:
            api = await logged_in(ApiClient(base_url=server.said, description=UNDESCRIBED))
            org_id = OrgId((await api.get("/api/auth/me")).expect()["org_id"])
            device_id = await _two_versions(uri, Path(folder), org_id)
            await _measure(report, server.said, await works(api, device_id=device_id))


async def _two_versions(uri: str, folder: Path, org_id: OrgId) -> str:
    """The id of a device with two versions that have little in common."""
    database = connect(uri, DATABASE)
    async with stored_in(database, folder, org_id) as stored:
        (device_id,) = await stored.devices(["long"])
        for version in (1, 2):
            chance = random.Random(version)
            lines = [f"line {chance.randrange(LINES)}" for _ in range(LINES)]
            await stored.version(device_id, version, "\n".join(lines))
    database.close()
    return device_id


async def _measure(report: Report, url: str, asked: Mapping[str, Asked]) -> None:
    async with HealthReaders(url, READERS) as idle:
        await asyncio.sleep(SECONDS)
    async with going_on(asked) as answered, HealthReaders(url, READERS) as busy:
        await asyncio.sleep(SECONDS)
    for (name, status), times in sorted(answered.items()):
        report.parameter(name, f"answered with {status} {times} times")
    for name, readers in (("idle", idle), ("busy", busy)):
        report.value(f"{name}_p50", percentile(readers.milliseconds, 0.5), "ms")
    report.value("idle_p99", percentile(idle.milliseconds, 0.99), "ms")
    report.wanted("busy_p99", percentile(busy.milliseconds, 0.99), "ms", "at most", MOST_P99)
