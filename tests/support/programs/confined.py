"""Executes a command under those restrictions of a unit that a process can take on without systemd.

`python confined.py UNIT COMMAND...`: NoNewPrivileges=, MemoryDenyWriteExecute= (prctl(2), PR_SET_MDWE, from
Linux 6.3 on) and SystemCallFilter=, whose groups `systemd-analyze syscall-filter` lists (systemd.exec(5)).
"""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyseccomp

PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 38, 65, 1


def values(unit: Path, key: str) -> list[str]:
    lines = unit.read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{key}=")]


def allowed_calls(unit: Path) -> set[str]:
    """The first line allows, one that begins with `~` takes away."""
    found: set[str] = set(calls_of("@default"))
    for line in values(unit, "SystemCallFilter"):
        named = {call for word in line.removeprefix("~").split() for call in calls_of(word)}
        found = found - named if line.startswith("~") else found | named
    return found


def calls_of(word: str) -> Iterator[str]:
    if not word.startswith("@"):
        yield word
        return
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", word], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines()[1:]:
        if (name := line.strip()) and not name.startswith("#"):
            yield from calls_of(name)


def confine(unit: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if values(unit, "MemoryDenyWriteExecute") == ["yes"]:
        with suppress(OSError):  # an older kernel
            _prctl(libc, PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN)
    _prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
    filtered = pyseccomp.SyscallFilter(defaction=pyseccomp.ERRNO(errno.EPERM))
    for call in sorted(allowed_calls(unit)):
        try:
            filtered.add_rule(pyseccomp.ALLOW, call)
        except (OSError, ValueError):
            continue  # of another architecture
    filtered.load()


def _prctl(libc: ctypes.CDLL, option: int, value: int) -> None:
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


if __name__ == "__main__":
    confine(Path(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
