"""Stacks of the threads of a watched process: written by faulthandler, which needs no interpreter lock."""

import faulthandler
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SIGNAL = signal.SIGRTMIN + 7
_THREAD = re.compile(r"^(Current thread|Thread) 0x([0-9a-f]+)")
_FRAME = re.compile(r'^  File "(?P<file>[^"]*)", line (?P<line>\d+) in (?P<function>.*)$')
MAIN = 0


class Stacks:
    """A pipe made before the fork. `register` is for the watched process, the rest for the watching one."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def register(self) -> None:
        faulthandler.register(SIGNAL, file=self._write, all_threads=True, chain=False)

    def ask(self, pid: int) -> None:
        """Request a dump of a process that has registered: the kernel gives the signal to its main thread."""
        self.read()
        with suppress(ProcessLookupError):
            os.kill(pid, SIGNAL)

    def read(self) -> str:
        """Return what has come since the last time; the dump comes within milliseconds, unless the disk
        hangs.
        """
        parts = []
        with suppress(BlockingIOError):
            while part := os.read(self._read, 65536):
                parts.append(part)
        return b"".join(parts).decode(errors="replace")


@dataclass(frozen=True, kw_only=True)
class Frame:
    file: str
    line: str
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"

    @property
    def place(self) -> str:
        """Return the place in short, for people who do not know the machine."""
        return f"{Path(self.file).name}, line {self.line}, in {self.function}"


def by_thread(text: str) -> Mapping[int, list[Frame]]:
    """Return the frames of a dump, innermost first, by the ident of the thread; those of the main one as
    MAIN.
    """
    found: dict[int, list[Frame]] = {}
    frames: list[Frame] = []
    for line in text.splitlines():
        if begin := _THREAD.match(line):
            frames = found.setdefault(MAIN if begin[1] != "Thread" else int(begin[2], 16), [])
        elif frame := _FRAME.match(line):
            frames.append(Frame(**frame.groupdict()))
    return found
