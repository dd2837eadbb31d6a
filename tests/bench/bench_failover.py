"""A primary that hangs: the gap without good answers, the slowest answer, and what comes of runs."""

import asyncio
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tornado.httpclient import AsyncHTTPClient

from netautod.core.waiting import REQUEST_SECONDS
from tests.bench.measuring.report import BenchmarkError, Report
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient
from tests.support.programs.replica_set import replica_set

READERS, RUNS = 16, 20
# MongoDB's own default: so long the others wait for a sign of life before they elect a new primary.
ELECTION_MILLIS = 10_000
# What a loaded machine may add to an answer that is due after 3.5 s.
SLOWEST_SECONDS = REQUEST_SECONDS + 1.0
GAP_SECONDS = ELECTION_MILLIS / 1000 + REQUEST_SECONDS
LONGEST_SECONDS = 120.0
SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"


class Readers:
    """Ask without a break; `good` are the moments of good answers, `slowest` is the longest of all."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._clock = asyncio.get_running_loop().time
        self.statuses: Counter[int] = Counter()
        self.slowest = 0.0
        self.good: list[float] = []
        self.home_time = False
        self._news = asyncio.Event()

    async def go_on(self) -> None:
        while not self.home_time:
            began = self._clock()
            response = await self._client.get(f"{SCHEDULES}?limit=5")
            now = self._clock()
            self.slowest = max(self.slowest, now - began)
            self.statuses[response.status] += 1
            if response.status == 200:
                self.good.append(now)
                self._news.set()
            await asyncio.sleep(0.05)

    async def good_again(self, count: int) -> None:
        async with asyncio.timeout(LONGEST_SECONDS):
            while len(self.good) < count:
                self._news.clear()
                await self._news.wait()

    @property
    def gap(self) -> float:
        return max(after - before for before, after in zip(self.good, self.good[1:], strict=False))


async def run(report: Report) -> None:
    AsyncHTTPClient.configure(None, max_clients=1000)  # with its own 10, requests would wait in this process
    report.parameter("readers", READERS)
    report.parameter("runs", RUNS)
    report.parameter("members", f"3, electionTimeoutMillis {ELECTION_MILLIS}, the default of MongoDB")
    report.parameter("fault", "SIGSTOP on the primary")
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with (
            replica_set(Path(folder), election_millis=ELECTION_MILLIS) as members,
            running_service(members.uri) as (_, client),
        ):
            readers = Readers(client)
            async with asyncio.TaskGroup() as going:
                for _ in range(READERS):
                    going.create_task(readers.go_on())
                ids = [await _begun(client, number) for number in range(RUNS)]
                await readers.good_again(READERS * 5)
                hanging = await members.hang_primary()
                await members.primary()
                await readers.good_again(len(readers.good) + READERS * 5)
                ended = await _ended(client, ids)
                readers.home_time = True
            members.wake(hanging)
    _tell(report, readers, ended)


def _tell(report: Report, readers: Readers, ended: list[dict[str, Any]]) -> None:
    report.parameter("answers", dict(readers.statuses))
    report.wanted("gap", readers.gap, "s without a good answer", "at most", GAP_SECONDS)
    report.wanted("slowest", readers.slowest, "s", "at most", SLOWEST_SECONDS)
    attempts = [len(run["attempts"]) for run in ended]
    report.wanted("runs_lost", RUNS - len(ended), "runs", "at most", 0)
    report.wanted("runs_doubled", sum(count > 1 for count in attempts), "runs", "at most", 0)


async def _begun(client: ApiClient, number: int) -> str:
    """A run that is under way while the primary hangs."""
    task = {
        "name": f"run {number}",
        "task_type": "backup",
        "cron_expression": "0 0 1 1 *",
        "timezone": "UTC",
        "parameters": {},
    }
    made = await client.post(SCHEDULES, task)
    if made.status != 201:
        raise BenchmarkError(f"a task was not made: {made.content!r}")
    begun = await client.post(f"{SCHEDULES}/{made.json['id']}/run")
    if begun.status != 202:
        raise BenchmarkError(f"a run did not begin: {begun.content!r}")
    return str(begun.json["id"])


async def _ended(client: ApiClient, ids: list[str]) -> list[dict[str, Any]]:
    """Those that have completed, once all have ended or it takes too long."""
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            answers = [await client.get(f"{EXECUTIONS}/{one}") for one in ids]
            runs = [answer.json for answer in answers if answer.status == 200]
            if len(runs) == len(ids) and all(run["state"] not in ("pending", "running") for run in runs):
                return [run for run in runs if run["state"] == "completed"]
            await asyncio.sleep(0.5)
