"""Backup and restore, against loops that read and insert the same documents; and their memory.

mongodump and mongorestore cannot be installed here. What stands in for them are the same database read by a
loop over `find`, and by one over `find_raw_batches`, which decodes nothing, as mongodump does; and the same
documents written by `insert_many`, a thousand at a time, and then the same indexes. Neither writes a file,
nor hashes, reads again or compares, which backup and restore do.
"""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from subprocess import DEVNULL, PIPE
from subprocess import run as run_process
from tempfile import TemporaryDirectory
from typing import Any

from pymongo import MongoClient

from netautod.assembly.data.database import open_database
from netautod.assembly.data.stores import INDEXES
from netautod.assembly.installation import open_installation
from netautod.assembly.settings import Settings
from netautod.maintenance.archive.backup import back_up
from netautod.maintenance.archive.restore import restore
from netautod.store.connection import connect
from netautod.store.embedded.mongod import EmbeddedMongo
from netautod.store.indexes import create_indexes
from tests.bench.measuring.report import ROOT, BenchmarkError, Report

EVENTS, TEXTS, TEXT_BYTES = 120_000, 8_000, 8_000
PARTS = ("audit_events", "config_texts")
SMALL = 8  # the part of it that the memory is compared with
ROUNDS = 3
AT_ONCE = 1000
PASSPHRASE = "correct horse battery staple"
MIB = 1 << 20
# Linux counts what a process held before its exec as its own: by a small process, not by this one.
PEAK = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "netautod", *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


@dataclass(frozen=True, kw_only=True)
class Side:
    """A mongod of our own that runs, as beside a service."""

    settings: Settings
    uri: str

    def rows(self, client: MongoClient[Any], name: str) -> Any:
        return client[self.settings.mongodb.database][name]


async def run(report: Report) -> None:
    report.parameter("documents", f"{EVENTS} events of the audit, {TEXTS} sealed texts of {TEXT_BYTES} bytes")
    report.parameter("rounds", f"{ROUNDS} of each side in turn")
    with TemporaryDirectory(prefix="netautod-bench-") as name:
        folder = Path(name)
        async with side(folder / "origin") as origin:
            async with (
                open_database(origin.settings, origin.uri) as database,
                open_installation(origin.settings, database),
            ):
                pass
            await asyncio.to_thread(_fill, origin, SMALL)
            small = await asyncio.to_thread(_memory, origin, folder / "small")
            await asyncio.to_thread(_fill, origin, 1)
            size = await asyncio.to_thread(_size, origin)
            report.parameter("size", f"{size / MIB:.0f} MiB of BSON")
            await _backups(report, origin, folder, size)
            large = await asyncio.to_thread(_memory, origin, folder / "large")
            report.value("backup_memory", large, "MB")
            report.wanted(f"backup_memory_of_{SMALL}_times_as_much", large / small, "times", "at most", 1.3)
            await _restores(report, origin, folder, size)


@asynccontextmanager
async def side(folder: Path) -> AsyncIterator[Side]:
    async with EmbeddedMongo(folder) as mongo:
        yield Side(settings=Settings(data_dir=folder), uri=mongo.uri)


def _fill(origin: Side, part: int) -> None:
    """All documents but for what is there, divided by `part`."""
    with MongoClient[Any](origin.uri, w="majority") as client:
        for name, count, make in (("audit_events", EVENTS, _event), ("config_texts", TEXTS, _text)):
            rows = origin.rows(client, name)
            for batch in _batches(rows.count_documents({}), count // part, make):
                rows.insert_many(batch, ordered=False)


def _batches(begin: int, end: int, make: Callable[[int], Any]) -> Iterator[list[Any]]:
    for first in range(begin, end, AT_ONCE):
        yield [make(number) for number in range(first, min(first + AT_ONCE, end))]


def _event(number: int) -> dict[str, Any]:
    details = {"name": f"core-{number}", "changes": ["host", "port", "site"], "before": {"port": 22}}
    return {
        "_id": f"{number:032x}",
        "org_id": "default",
        "seq": -1 - number,
        "actor_id": os.urandom(16).hex(),
        "action": "device.update",
        "resource_type": "device",
        "resource_id": os.urandom(16).hex(),
        "hash": os.urandom(32).hex(),
        "prev": os.urandom(32).hex(),
        "details": details,
        "ip": "192.0.2.1",
    }


def _text(number: int) -> dict[str, Any]:
    return {"_id": f"{number:032x}", "org_id": "default", "text": {"data": os.urandom(TEXT_BYTES)}}


def _size(origin: Side) -> int:
    with MongoClient[Any](origin.uri) as client:
        return sum(len(batch) for name in PARTS for batch in origin.rows(client, name).find_raw_batches({}))


async def _backups(report: Report, origin: Side, folder: Path, size: int) -> None:
    seconds: dict[str, list[float]] = {"backup": [], "encrypted": [], "find": [], "raw_find": []}
    for number in range(ROUNDS):
        seconds["find"].append(await asyncio.to_thread(_timed, _find, origin))
        seconds["raw_find"].append(await asyncio.to_thread(_timed, _size, origin))
        for name, passphrase in (("backup", None), ("encrypted", PASSPHRASE)):
            began = time.perf_counter()
            await back_up(origin.settings, folder / f"{name}{number}", passphrase)
            seconds[name].append(time.perf_counter() - began)
    rates = {name: _rate(report, name, size, taken) for name, taken in seconds.items()}
    for name in ("backup", "encrypted"):
        report.wanted(f"{name}_over_find", rates[name] / rates["find"], "times", "at least", 0.5)
        report.value(f"{name}_over_raw_find", rates[name] / rates["raw_find"], "times")
    report.parameter("file", f"{(folder / 'backup0').stat().st_size / MIB:.0f} MiB")


def _find(origin: Side) -> int:
    with MongoClient[Any](origin.uri) as client:
        return sum(1 for name in PARTS for _ in origin.rows(client, name).find({}))


async def _restores(report: Report, origin: Side, folder: Path, size: int) -> None:
    seconds: dict[str, list[float]] = {"restore": [], "insert_many": [], "insert_many_and_indexes": []}
    for number in range(ROUNDS):
        async with side(folder / f"bare{number}") as bare:
            inserting = await asyncio.to_thread(_inserting, origin, bare)
            began = time.perf_counter()
            database = connect(bare.uri, bare.settings.mongodb.database, timeout_seconds=600)
            await create_indexes(database, INDEXES)
            database.close()
            seconds["insert_many"].append(inserting)
            seconds["insert_many_and_indexes"].append(inserting + time.perf_counter() - began)
        async with side(folder / f"target{number}") as target:
            shutil.copy(origin.settings.data_dir / "master.key", target.settings.data_dir / "master.key")
            began = time.perf_counter()
            await restore(target.settings, folder / f"encrypted{number}", PASSPHRASE)
            seconds["restore"].append(time.perf_counter() - began)
    rates = {name: _rate(report, name, size, taken) for name, taken in seconds.items()}
    over = rates["restore"] / rates["insert_many_and_indexes"]
    report.wanted("restore_over_insert_many_and_indexes", over, "times", "at least", 0.5)
    report.value("restore_over_insert_many", rates["restore"] / rates["insert_many"], "times")


def _inserting(origin: Side, bare: Side) -> float:
    """The seconds of the writing alone; what is written is read before, a part at a time."""
    seconds = 0.0
    with MongoClient[Any](origin.uri) as source, MongoClient[Any](bare.uri) as client:
        for name in PARTS:
            cursor = origin.rows(source, name).find({})
            while batch := list(islice(cursor, AT_ONCE)):
                began = time.perf_counter()
                bare.rows(client, name).insert_many(batch, ordered=False)
                seconds += time.perf_counter() - began
    return seconds


def _timed(work: Callable[[Side], object], where: Side) -> float:
    began = time.perf_counter()
    work(where)
    return time.perf_counter() - began


def _rate(report: Report, name: str, size: int, seconds: list[float]) -> float:
    return report.raw(name, [size / MIB / one for one in seconds], "MiB/s")


def _memory(origin: Side, file: Path) -> float:
    """The most that the command takes, in MB, without the mongod, which is ours."""
    arguments = ["backup", str(file), "--data-dir", str(origin.settings.data_dir)]
    done = run_process([sys.executable, "-c", PEAK, *arguments], cwd=ROOT, stdout=PIPE, stderr=DEVNULL)
    if done.returncode:
        raise BenchmarkError(f"netautod backup ended with exit code {done.returncode}")
    return int(done.stdout.split()[-1]) / 1000
