"""The processor time, the memory and the descriptors of other processes."""

import os
import re
from collections import defaultdict
from pathlib import Path

MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$")


def cpu_seconds(pid: int) -> float:
    """proc(5), stat: behind the name in brackets, utime and stime are the 12th and 13th field."""
    return _seconds(pid, slice(11, 13))


def tree_cpu_seconds(pid: int) -> float:
    """That of a process and its descendants; cutime and cstime are of those that it has waited for."""
    return _seconds(pid, slice(11, 15)) + sum(tree_cpu_seconds(child) for child in children_of(pid))


def tree_megabytes(pid: int, field: str) -> float:
    """`VmRSS` or `VmHWM` (the highest so far) of a process and its running descendants, added up."""
    own = _kilobytes(Path(f"/proc/{pid}/status").read_text(), field)
    return own / 1024 + sum(tree_megabytes(child, field) for child in children_of(pid))


def tree_pss_megabytes(pid: int) -> float:
    """proc(5), smaps_rollup: what several processes share is divided among all of them."""
    texts = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in tree(pid)]
    return sum(_kilobytes(text, "Pss") for text in texts) / 1024


def tree_alone_megabytes(pid: int) -> float:
    """The same as if no other program ran: of files that are mapped, nothing is shared with others."""
    anonymous, files = 0.0, defaultdict[str, float](float)
    for one in tree(pid):
        anonymous += _kilobytes(Path(f"/proc/{one}/smaps_rollup").read_text(), "Pss_Anon")
        for path, size in _mapped(one).items():
            files[path] = max(files[path], size)
    return (anonymous + sum(files.values())) / 1024


def tree_descriptors(pid: int) -> int:
    return sum(len(list(Path(f"/proc/{one}/fd").iterdir())) for one in tree(pid))


def tree(pid: int) -> list[int]:
    return [pid, *(below for child in children_of(pid) for below in tree(child))]


def _mapped(pid: int) -> dict[str, float]:
    """Kilobytes in memory by mapped file, without what the process has changed of it."""
    found, path = defaultdict[str, float](float), ""
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if (header := MAPPING.match(line)) is not None:
            path = header[1]
        elif path.startswith("/") and line.startswith(("Rss:", "Anonymous:")):
            size = float(line.split()[1])
            found[path] += size if line.startswith("Rss:") else -size
    return found


def _kilobytes(text: str, field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None, text
    return int(found[1])


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
