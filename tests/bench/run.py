"""Runs benchmarks: `run.py [name ...]`, without names all of them.

Prints `name value unit` lines and, behind `#`, the parameters and raw numbers. Exit code 1: a measure missed
what is wanted of it or a benchmark could not be run; 2: there is no such benchmark.
"""

import asyncio
import importlib
import os
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

# As a script, Python looks for modules beside this file only.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from netautod.core.errors import NetautodError
from tests.bench.measuring.report import BenchmarkError, Report, commit

PREFIX = "bench_"


def main(arguments: Sequence[str]) -> int:
    known = sorted(path.stem.removeprefix(PREFIX) for path in Path(__file__).parent.glob(f"{PREFIX}*.py"))
    names = list(arguments) or known
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {' '.join(known)}", file=sys.stderr)
        return 2
    print(f"# commit {commit()}")
    print(f"# Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}")
    failed: list[str] = []
    for name in names:
        failed += _run_one(name)
    if failed:
        print(f"# short of what is wanted: {', '.join(failed)}")
    return 1 if failed else 0


def _run_one(name: str) -> list[str]:
    """What fell short; a benchmark that could not be run does so as a whole."""
    report = Report(name)
    began = time.monotonic()
    try:
        run: Callable[[Report], Awaitable[None]] = importlib.import_module(f"tests.bench.{PREFIX}{name}").run
        asyncio.run(_awaited(run, report))
    except (BenchmarkError, NetautodError, TimeoutError) as error:
        print(f"# {name} could not be run: {str(error) or 'it took too long'}\n", flush=True)
        return [name]
    print(f"# {name} took {time.monotonic() - began:.0f} s\n", flush=True)
    return report.short


async def _awaited(run: Callable[[Report], Awaitable[None]], report: Report) -> None:
    await run(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
