"""The processor time and the memory of another process."""

import os
import re
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """proc(5), stat: behind the name in brackets, utime and stime are the 12th and 13th field."""
    return _seconds(pid, slice(11, 13))


def tree_cpu_seconds(pid: int) -> float:
    """That of a process and its descendants; cutime and cstime are of those that it has waited for."""
    return _seconds(pid, slice(11, 15)) + sum(tree_cpu_seconds(child) for child in children_of(pid))


def tree_megabytes(pid: int, field: str) -> float:
    """`VmRSS` or `VmHWM` (the highest so far) of a process and its running descendants, added up."""
    status = Path(f"/proc/{pid}/status").read_text()
    own = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    assert own is not None, status
    return int(own[1]) / 1024 + sum(tree_megabytes(child, field) for child in children_of(pid))


def reset_peak(pid: int) -> None:
    """proc(5), clear_refs: 5 makes the highest resident size that of this moment."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    for child in children_of(pid):
        reset_peak(child)


def _seconds(pid: int, wanted: slice) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[wanted])) / os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    """By the parent that each process names; `/proc/<pid>/task/<tid>/children` is not in every kernel."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent(path) == pid]


def _parent(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return None
