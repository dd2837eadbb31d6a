"""Samples of a watched process between two looks, as far as the kernel tells (proc(5))."""

import time
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
STOPPED, RUNNABLE, GONE = "tT", "R", "ZX"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample of the main thread; all times are in seconds.

    `state` is the letter of /proc/PID/stat, `on_cpu` and `waited` (for a processor) are the first two fields
    of schedstat, `page_ins` counts the pages that it waited for (majflt).
    """

    at: float
    state: str
    on_cpu: float
    waited: float
    page_ins: int


def sample(pid: int) -> Sample | None:
    """Take a sample; None if the process is gone."""
    folder = PROC / str(pid) / "task" / str(pid)
    try:
        stat = (folder / "stat").read_text().rpartition(")")[2].split()
        on_cpu, waited = _schedstat(folder)
    except (OSError, ValueError, IndexError):
        return None
    return Sample(at=time.monotonic(), state=stat[0], on_cpu=on_cpu, waited=waited, page_ins=int(stat[9]))


def seconds_computing(pid: int, thread: int) -> float:
    """Return the seconds of one thread, with its waits for a processor, which are long on a loaded machine; 0
    if it is gone.
    """
    try:
        return sum(_schedstat(PROC / str(pid) / "task" / str(thread)))
    except (OSError, ValueError, IndexError):
        return 0.0


def _schedstat(folder: Path) -> tuple[float, float]:
    on_cpu, waited = (folder / "schedstat").read_text().split()[:2]
    return int(on_cpu) / 1e9, int(waited) / 1e9
