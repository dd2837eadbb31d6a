"""A process of its own for the code of a plugin: it has no effects there, and cannot hang for ever."""

import faulthandler
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Report = Callable[[str, str], None]
_LAST_WORDS = 0.5  # seconds before the end at which the stack of one that hangs is written
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Events of `sys.audit` that change something outside the process, or talk to other programs.
_EFFECTS = {
    "os.remove": "removes a file",
    "os.rename": "renames a file",
    "os.rmdir": "removes a folder",
    "os.mkdir": "makes a folder",
    "os.chmod": "changes a file",
    "os.chown": "changes a file",
    "os.link": "makes a link",
    "os.symlink": "makes a link",
    "os.truncate": "changes a file",
    "os.system": "starts a program",
    "os.exec": "starts a program",
    "os.posix_spawn": "starts a program",
    "os.fork": "makes a process",
    "os.forkpty": "makes a process",
    "os.kill": "sends a signal",
    "os.killpg": "sends a signal",
    "subprocess.Popen": "starts a program",
    "socket.connect": "opens a connection",
    "socket.bind": "opens a port",
    "socket.getaddrinfo": "asks for an address",
    "socket.gethostbyname": "asks for an address",
}
_OF_FILES = tuple(event for event, effect in _EFFECTS.items() if effect.endswith(("file", "folder", "link")))


class HasEffects(Exception):
    """Raised when code of a plugin does what it must not do while it is loaded."""


@dataclass(kw_only=True)
class ChildReport:
    """The report of a process, by kind and in order; `ended` says whether it came to its end."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    ended: bool = False


def run_apart(work: Callable[[Report], None], scratch: Path, path: Path, *, seconds: float) -> ChildReport:
    """Run `work` in a fork; it imports from `path`, and may write into `scratch` alone.

    One that does not end is killed with all that it started, and the report says so.
    """
    report, stack, home = scratch / "report", scratch / "stack", scratch / "home"
    home.mkdir()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _child(work, report, stack, home, path, seconds)
    status = _wait(pid, seconds)
    child_report = _read(report)
    if not child_report.ended:
        step = next((text for kind, text in reversed(child_report.lines) if kind == "step"), "it was loaded")
        child_report.lines.append(("problem", _last_words(status, step, stack, path, seconds)))
    return child_report


def _child(
    work: Callable[[Report], None], report: Path, stack: Path, home: Path, path: Path, seconds: float
) -> None:
    """Run the work in the child; never returns."""
    try:
        os.setsid()
        os.chdir(home)
        _forget_environment(home)
        sink = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(sink, descriptor)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(path))
        with report.open("a", encoding="utf-8", buffering=1) as lines, stack.open("w") as shown:

            def say(kind: str, text: str) -> None:
                lines.write(json.dumps([kind, text]) + "\n")

            faulthandler.dump_traceback_later(max(0.1, seconds - _LAST_WORDS), file=shown)
            refused: list[str] = []
            sys.addaudithook(_refusing(home, refused))
            work(say)
            for sentence in dict.fromkeys(refused):  # also what the plugin has caught
                say("effect", sentence)
            say("end", "")
    finally:
        os._exit(0)  # whatever threads it has left


def _forget_environment(home: Path) -> None:
    """Drop settings and secrets of the service from the environment."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, HOME=str(home), TMPDIR=str(home))


def _refusing(home: Path, refused: list[str]) -> Callable[[str, tuple[Any, ...]], None]:
    inside = f"{home}{os.sep}"

    def refusal(effect: str) -> HasEffects:
        refused.append(f"{effect}: a plugin has no effects while it is loaded")
        return HasEffects(refused[-1])

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = (*arguments, None, None)[:3]
            writes = flags & _WRITES if isinstance(flags, int) else "r" not in (mode or "r")
            if not writes or not isinstance(path, str | bytes | os.PathLike) or _is_inside(path, inside):
                return
            raise refusal(f"it writes {os.fspath(path)!r}")
        if event in _EFFECTS:
            first = arguments[0] if arguments and event in _OF_FILES else None
            if isinstance(first, str | bytes | os.PathLike) and _is_inside(first, inside):
                return
            raise refusal(f"it {_EFFECTS[event]}")

    return hook


def _is_inside(path: Any, inside: str) -> bool:
    whole = os.path.abspath(os.fsdecode(path))
    return whole.startswith(inside) or whole == os.devnull


def _wait(pid: int, seconds: float) -> int | None:
    """Return the status of the process; None for one that had to be killed."""
    watched, until = os.pidfd_open(pid), time.monotonic() + seconds
    try:
        ready, _, _ = select.select([watched], [], [], max(0.0, until - time.monotonic()))
    finally:
        os.close(watched)
    if not ready:
        _kill(pid)
        os.waitpid(pid, 0)
        return None
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    _kill(pid)  # what it may have started
    return status


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _read(report: Path) -> ChildReport:
    child_report = ChildReport()
    if report.exists():
        for line in report.read_text(encoding="utf-8").splitlines():
            kind, text = json.loads(line)
            child_report.ended = child_report.ended or kind == "end"
            child_report.lines.append((kind, text))
    return child_report


def _last_words(status: int | None, step: str, stack: Path, path: Path, seconds: float) -> str:
    if status is not None:
        how = f"was ended by signal {-status}" if status < 0 else f"ended with exit code {status}"
        return f"the process {how} while {step}: a plugin must not end it"
    shown = stack.read_text(encoding="utf-8") if stack.exists() else ""
    lines = [line.strip() for line in shown.splitlines() if f'"{path}' in line]
    where = f" ({lines[0].replace(f'{path}{os.sep}', '')})" if lines else ""
    return f"{step} did not end within {seconds:g} seconds{where}"
