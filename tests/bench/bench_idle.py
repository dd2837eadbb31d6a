"""An idle service: how long it takes from its start until it is ready, and what memory it then takes."""

import asyncio
import compileall
import sys
from pathlib import Path
from statistics import median
from sysconfig import get_path
from tempfile import TemporaryDirectory

from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.processor import (
    children_of,
    tree,
    tree_alone_megabytes,
    tree_cpu_seconds,
    tree_pss_megabytes,
)
from tests.bench.measuring.report import ROOT, Report
from tests.support.programs.service import serving

STARTS = 5
IDLE_SECONDS = 10.0
# By the setting's own default; the tests run without it.
LOOP = {"NETAUTOD_SERVER_UVLOOP": "true", "NETAUTOD_LOG_LEVEL": "warning"}


async def run(report: Report) -> None:
    """The database runs before. The first start makes its indexes and the first user."""
    _compile()
    starts: list[float] = []
    processor: list[float] = []
    async with private_mongod() as uri:
        with TemporaryDirectory(prefix="netautod-bench-") as folder:
            data, flags = Path(folder) / "data", ("--mongodb-uri", uri)
            for number in range(STARTS + 1):
                async with serving(data, *flags, variables=LOOP) as service:
                    pid = service.process.pid
                    starts.append(service.seconds)
                    processor.append(tree_cpu_seconds(pid))
                    if number == STARTS:
                        await asyncio.sleep(IDLE_SECONDS)
                        _memory(report, pid)
    report.value("first_start", starts.pop(0), "s")
    report.raw("start", starts, "s")
    report.value("start_processor_time", median(processor[1:]), "s")
    # On a machine that does other work, too, the quickest start says most about the service.
    report.wanted("quickest_start", min(starts), "s", "at most", 3)


def _memory(report: Report, pid: int) -> None:
    report.parameter("processes", f"{len(tree(pid))}, {len(children_of(pid))} of them below the first")
    report.value("memory_pss", tree_pss_megabytes(pid), "MB")
    report.wanted("memory", tree_alone_megabytes(pid), "MB", "at most", 120)


def _compile() -> None:
    """What pip does when it installs: a start that compiles everything is no start of an installation."""
    for folder in (get_path("purelib"), ROOT / "netautod", ROOT / "plugins"):
        compileall.compile_dir(str(folder), quiet=2, maxlevels=20)
    assert sys.implementation.cache_tag
