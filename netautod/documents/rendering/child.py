"""The rendering child: a warm interpreter that forks for every template, so that nothing outlives a render.

It runs on its own, with an empty environment and no file but its pipes. Each fork gets limits on memory and
CPU time, an alarm, and the right to open nothing and start nothing. A template that breaks out of Jinja2's
sandbox finds no key, no other organization's variables and no way to leave data for the next render.
"""

import gc
import json
import os
import resource
import signal
from collections.abc import Mapping
from typing import NoReturn

from netautod.core.loop.child_frames import STDIN, STDOUT, frame, requests, write
from netautod.documents.rendering.environment import Environment, describe, environments, perform, warm_up
from netautod.documents.rendering.limits import (
    ALARM_SECONDS,
    CPU_SECONDS,
    DIED,
    MAX_ANSWER,
    MEMORY_BYTES,
    TOO_LONG,
    TOO_MUCH_CPU,
    TOO_MUCH_MEMORY,
    error_frame,
    unpack_request,
)
from netautod.documents.rendering.preload import preload

STDERR = 2
CAUSES = {
    signal.SIGXCPU: TOO_MUCH_CPU,
    signal.SIGALRM: TOO_LONG,
    signal.SIGKILL: TOO_MUCH_MEMORY,  # the kernel's last resort, on a machine that is out of memory
}


def main() -> None:
    """Serve requests on the standard streams until the service closes them."""
    made = environments()
    preload()
    for each in set(made.values()):
        warm_up(each)
    # Pages that the collector never touches stay shared between the forks.
    gc.collect()
    gc.freeze()
    # Errors of the start above went to the service's log; nothing of a template shall.
    os.close(STDERR)
    os.open(os.devnull, os.O_WRONLY)  # takes the lowest free number, that of stderr
    for request in requests():
        write(STDOUT, _answer(made, *unpack_request(request)))


def _answer(made: Mapping[str, Environment], template: bytes, options: bytes) -> bytes:
    ours, theirs = os.pipe()
    fork = os.fork()
    if fork == 0:
        _perform_and_exit(made, template, options, theirs)
    os.close(theirs)
    try:
        answer = _read_all(ours)
    finally:
        os.close(ours)
        status = os.waitpid(fork, 0)[1]
    if os.WIFSIGNALED(status):
        return error_frame(CAUSES.get(signal.Signals(os.WTERMSIG(status)), DIED))
    return answer if status == 0 and answer else error_frame(DIED)


def _read_all(source: int) -> bytes:
    parts: list[bytes] = []
    room = MAX_ANSWER + 64
    while part := os.read(source, 1 << 16):
        room -= len(part)
        if room >= 0:
            parts.append(part)
    return b"".join(parts)


def _perform_and_exit(
    made: Mapping[str, Environment], template: bytes, options: bytes, sink: int
) -> NoReturn:
    code = 1
    try:
        os.close(STDIN)
        os.close(STDOUT)
        confine()
        try:
            answer = frame(perform(made, template.decode(), json.loads(options)))
        except Exception as error:  # noqa: BLE001 - a template can raise anything, and it is the answer
            answer = error_frame(describe(error))
        write(sink, answer)
        code = 0
    finally:
        os._exit(code)


def confine() -> None:
    """Limit this process for the rest of its life; only a fork that renders calls it."""
    signal.setitimer(signal.ITIMER_REAL, ALARM_SECONDS)
    limits = {
        resource.RLIMIT_AS: MEMORY_BYTES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
        # Open files stay open (setrlimit(2)); nothing new can be opened, no file, socket or program.
        resource.RLIMIT_NOFILE: 0,
    }
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
