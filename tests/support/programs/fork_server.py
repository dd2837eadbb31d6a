"""A process that has imported netautod, and forks once for each program that a test starts.

Most of what a short program costs is its imports. `python -m tests.support.programs.fork_server FD` says on
the socket FD that it has done them, and answers requests there, one at a time, until that is closed. A child
is one of our parent (CLONE_PARENT of clone(2)), which waits for it as for any of its own; it does what
`python -m MODULE` does, in the order of that: environment, `sys.path`, `sys.argv`, and the module as
`__main__`.
"""

import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points

MOST_BYTES = 1 << 17
SYS_CLONE, CLONE_PARENT = 56, 0x8000  # of x86_64 (asm/unistd_64.h), linux/sched.h
PR_SET_PDEATHSIG = 1
ARCHITECTURE = "x86_64"
PLUGINS = "netautod"  # the group of entry points


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    own_path = _without_own_place(sys.path)
    _preload()
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MOST_BYTES, 3)
        if not message:
            return
        pid = _fork()
        if pid == 0:
            control.close()
            wanted = json.loads(message)
            _become(wanted, descriptors, own_path)
            runpy.run_module(wanted["module"], run_name="__main__", alter_sys=True)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(str(pid).encode())


def _without_own_place(path: Sequence[str]) -> list[str]:
    """Where Python looks wherever it is called and whatever PYTHONPATH says."""
    here = {os.getcwd(), "", *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    return [place for place in path if place not in here]


def _preload() -> None:
    """What `netautod serve` imports and reads, but for what it finds in its environment."""
    from netautod.cli.parsing import COMMANDS
    from netautod.transport.ssh.platform.registry import PlatformRegistry

    for name in COMMANDS.values():
        importlib.import_module(f"netautod.cli.{name}")
    for name in ("cli.entry", "server.server", "server.supervisor"):
        importlib.import_module(f"netautod.{name}")
    PlatformRegistry()  # keeps those that ship
    for found in entry_points(group=PLUGINS):
        found.load()


def _fork() -> int:
    """os.fork, but the child is our parent's. We have one thread, so the C library has nothing to repair."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid: int = ctypes.PyDLL(None).syscall(SYS_CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    return pid


def _become(wanted: Mapping[str, object], descriptors: Sequence[int], path: Sequence[str]) -> None:
    """The process that the request describes, before its first line."""
    _die_with(int(str(wanted["parent"])))
    gc.unfreeze()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    environment = wanted["environment"]
    assert isinstance(environment, dict)
    _forget_plugins_elsewhere(environment.get("PYTHONPATH", ""))
    os.environ.clear()
    os.environ.update(environment, PWD=str(wanted["folder"]))  # as the shell before an executed one says
    time.tzset()
    os.chdir(str(wanted["folder"]))
    places = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[:] = [os.getcwd(), *places, *path]
    importlib.invalidate_caches()
    arguments = wanted["arguments"]
    assert isinstance(arguments, list)
    sys.argv[1:] = arguments


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(125)


def _forget_plugins_elsewhere(path: str) -> None:
    """Another PYTHONPATH may hold other plugins of the same names."""
    if path != os.environ.get("PYTHONPATH", ""):
        for found in entry_points(group=PLUGINS):
            package = found.value.partition(":")[0].partition(".")[0]
            for name in [name for name in sys.modules if name.partition(".")[0] == package]:
                del sys.modules[name]


if __name__ == "__main__":
    main()
