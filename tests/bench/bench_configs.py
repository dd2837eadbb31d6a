"""Stored configs: long histories, diffs of large texts, the search of a fleet, and what a version costs."""

import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from bson import BSON

from netautod.core.json.values import encode
from netautod.core.pages import Page
from netautod.network.configs.models import Config, Match
from netautod.network.configs.search import LineSearch
from netautod.network.configs.texts.line_pattern import LineQuery
from netautod.network.devices.models import DeviceFilter
from netautod.testing import ios_config
from tests.bench.measured.stored_configs import Stored, stored_configs
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.report import BenchmarkError, Report, percentile
from tests.support.loop_watch import Watch, watched

VERSIONS = 10_000
LINES = 40_000
FLEET = 2_000
INTERFACES = 205  # some 30 KB
READS = 30
ROUNDS = 5
STALL = 20.0
ORDINARY = ("scattered_changes", "no_line_in_common")
BOUND = 2000.0  # for the pairs that are made to be hard
SIZES = (24, 48, INTERFACES)


async def run(report: Report) -> None:
    async with private_mongod() as uri:
        for part in (_history, _diffs, _storage, _fleet):
            async with stored_configs(uri) as stored:
                await part(report, stored)


async def _history(report: Report, stored: Stored) -> None:
    (device_id,) = await stored.devices(["long"])
    await stored.version(device_id, 1, ios_config("long"))
    rows = stored.database.collection("configs")
    (row,) = await rows.find({})
    for start in range(2, VERSIONS + 1, 1000):
        numbers = range(start, min(start + 1000, VERSIONS + 1))
        await rows.insert_many([{**row, "_id": f"{n}", "version": n} for n in numbers])
    for name, offset in (("first", 0), ("last", VERSIONS - 100)):
        lists = []
        for _ in range(READS):
            async with watched() as watch:
                page = await stored.configs.service.page(
                    stored.org_id, device_id, Page(limit=100, offset=offset)
                )
                encode(page.to_json("configs", Config.to_json))
            lists.append(watch.took)
        if (page.total, len(page.items)) != (VERSIONS, 100):
            raise BenchmarkError(f"{len(page.items)} of {page.total} versions were listed")
        report.wanted(f"list_{name}_100_p50", percentile(lists, 0.5), "ms", "at most", 20)
        report.value(f"list_{name}_100_p99", percentile(lists, 0.99), "ms")


def _pairs() -> Mapping[str, tuple[list[str], list[str]]]:
    """Texts of LINES lines: an ordinary pair, and those that are hard for a diff."""
    chance = random.Random(3)
    interfaces = [
        line
        for number in range(LINES // 5)
        for line in (f"interface {number}", " switchport", f" vlan {number % 9}", " no shutdown", "!")
    ]
    scattered = list(interfaces)
    for at in chance.sample(range(LINES), 100):
        scattered[at] = f" description changed {at}"
    unique = [f"route 10.{number // 250}.{number % 250}.0" for number in range(LINES)]
    equal = ["!"] * (LINES // 2)
    sparse = [f"anchor {n}" if n % 200 == 0 else "!" if n % 3 else "?" for n in range(LINES)]
    thinned = [line for line in sparse if line[0] == "a" or chance.random() < 0.9]
    return {
        "scattered_changes": (interfaces, scattered),
        "no_line_in_common": (interfaces, [f"x{line}" for line in unique]),
        "equal_lines_moved": ([*unique[: LINES // 2], *equal], [*equal, *unique[: LINES // 2]]),
        "shuffled": (unique, chance.sample(unique, LINES)),
        "equal_lines_thinned_out": (sparse, thinned),
    }


def asked(stored: Stored, wanted: LineQuery) -> LineSearch:
    return LineSearch(org_id=stored.org_id, wanted=wanted, narrowed=DeviceFilter())


async def _diffs(report: Report, stored: Stored) -> None:
    pairs = _pairs()
    ids = await stored.devices(list(pairs))
    async with watched() as idle:  # starts a process, which searches nothing
        await stored.configs.search.find(asked(stored, LineQuery(text="x", is_pattern=False)), Page())
    _stall(report, "idle", [idle])
    for device_id, (name, pair) in zip(ids, pairs.items(), strict=True):
        for version, lines in enumerate(pair, 1):
            await stored.version(device_id, version, "\n".join([*lines, "end", ""]))
        watches = []
        for _ in range(ROUNDS + 1):
            async with watched() as watch:
                found = await stored.configs.service.diff(stored.caller, device_id, None, None, secrets=False)
                encode(found.to_json())
            watches.append(watch)
        report.parameter(
            f"diff_{name}", f"+{found.additions} -{found.deletions}, {len(found.text)} characters"
        )
        # The first one also starts the process.
        middle = percentile([watch.took for watch in watches[1:]], 0.5)
        report.wanted(f"diff_{name}", middle, "ms", "at most", 500 if name in ORDINARY else BOUND)
        _stall(report, f"diff_{name}", watches[1:])


def _stall(report: Report, name: str, watches: Sequence[Watch]) -> None:
    report.value(f"{name}_stall", max(watch.stall for watch in watches), "ms")
    report.wanted(f"{name}_stall_of_our_own", max(watch.busy for watch in watches), "ms", "at most", STALL)


async def _storage(report: Report, stored: Stored) -> None:
    ids = await stored.devices([f"switch-{interfaces}" for interfaces in SIZES])
    texts = stored.database.collection("config_texts")
    for device_id, interfaces in zip(ids, SIZES, strict=True):
        raw = ios_config("sw1", interfaces)
        await stored.version(device_id, 1, raw)
        count = await texts.count({})
        await stored.version(device_id, 2, raw)
        report.wanted(
            f"texts_of_an_equal_version_{interfaces}", await texts.count({}) - count, "texts", "at most", 0
        )
        config = await stored.version(device_id, 3, ios_config("sw1", interfaces, community="changed"))
        row = await texts.find_one({"_id": config.text_id})
        if row is None:
            raise BenchmarkError("the text of a changed version is not there")
        report.parameter(
            f"text_{interfaces}", f"{config.size} bytes of config, {len(BSON.encode(row))} stored"
        )
        report.wanted(
            f"stored_over_raw_{interfaces}", len(row["text"]["data"]) / config.size, "times", "at most", 0.2
        )


async def _fleet(report: Report, stored: Stored) -> None:
    names = [f"switch-{number:04}" for number in range(FLEET)]
    for device_id, name in zip(await stored.devices(names), names, strict=True):
        text = ios_config(name, INTERFACES).replace("access port", f"{name} port")
        config = await stored.version(device_id, 1, text)
    report.parameter("fleet", f"{FLEET} configs of {config.size} bytes")
    before = _megabytes(os.getpid())
    for name, wanted in (
        ("cold", LineQuery(text="switchport mode access", is_pattern=False)),
        ("plain", LineQuery(text="SWITCH-1234 port 7", is_pattern=False)),
        ("regex", LineQuery(text=r"^ ip address 198\.51\.100\.\d+ ", is_pattern=True)),
        ("all_lines", LineQuery(text=".*", is_pattern=True)),
        ("nothing", LineQuery(text="s1mulated", is_pattern=False)),
    ):
        async with watched() as watch:
            found = await stored.configs.search.find(asked(stored, wanted), Page())
            encode(found.to_json("matches", Match.to_json))
        report.parameter(f"search_{name}", f"{found.total} matches")
        report.value(f"search_{name}", watch.took, "ms")
        _stall(report, f"search_{name}", [watch])
    report.value("search_growth_of_the_service", _megabytes(os.getpid()) - before, "MB")
    report.value("search_memory_of_the_worker", _megabytes(stored.configs.workers.searching.pid), "MB")
    pages = []
    for _ in range(READS):
        async with watched() as watch:
            await stored.configs.backups.page(stored.org_id, DeviceFilter(), Page(limit=100))
        pages.append(watch.took)
    report.value("with_backup_info_100_p50", percentile(pages, 0.5), "ms")


def _megabytes(pid: int | None) -> float:
    """proc(5), status: VmRSS in kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
