"""Programs of ours that a test starts, as forks of a process that has imported them (fork_server.py)."""

import asyncio
import json
import os
import platform
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from netautod.store.embedded.program import tied_to_parent
from tests.support.programs import fork_server

MODULE = "tests.support.programs.fork_server"
OWN = ("netautod", "tests")
# What the interpreter or the C library read when they begin: another value needs a process of its own.
READ_AT_BEGIN = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_", "ASAN_")


CUSTOMIZING = ("sitecustomize.py", "usercustomize.py")
ROOT = Path(__file__).parents[3]


class Refused(Exception):
    """It has to be executed instead."""


@dataclass(kw_only=True)
class _Server:
    process: subprocess.Popen[bytes]
    control: socket.socket
    environment: Mapping[str, str]
    ready: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def until_ready(self) -> None:
        """It imports for seconds at first; after that it answers within a millisecond."""
        async with self.lock:
            if not self.ready:
                self.control.setblocking(False)
                assert await asyncio.get_running_loop().sock_recv(self.control, 100)
                self.control.setblocking(True)
                self.ready = True


@dataclass(kw_only=True)
class Forks:
    """The server of this process of tests, which is started when the first program is."""

    _server: _Server | None = None
    _enabled: bool = False

    def enable(self) -> None:
        """Programs that measure themselves are executed: only tests call this."""
        self._enabled = platform.machine() == fork_server.ARCHITECTURE

    def stop(self) -> None:
        self._enabled = False
        if self._server is not None:
            self._server.control.close()
            self._server.process.wait()
            self._server = None

    async def start(self, command: Sequence[str], options: Mapping[str, Any]) -> Process:
        """As create_subprocess_exec(*command, **options). Raises Refused for what cannot be had by a fork."""
        if not self._enabled or list(command[:2]) != [sys.executable, "-m"]:
            raise Refused
        if command[2].partition(".")[0] not in OWN:
            raise Refused
        if not options.keys() <= {"stdin", "stdout", "stderr", "env", "cwd"}:
            raise Refused
        environment = dict(os.environ if options.get("env") is None else options["env"])
        folder = _folder(options)
        if _finds_others(folder, environment):
            raise Refused
        server = self._server = self._server or _begun()
        if _at_begin(environment) != _at_begin(server.environment):
            raise Refused
        wanted = {
            "module": command[2],
            "arguments": list(command[3:]),
            "environment": environment,
            "folder": str(folder),
            "parent": os.getpid(),
        }
        message = json.dumps(wanted).encode()
        if len(message) > fork_server.MOST_BYTES:
            raise Refused
        await server.until_ready()
        ends = _Ends.made(options)
        try:
            socket.send_fds(server.control, [message], ends.theirs)
            pid = int(server.control.recv(100))
        except BaseException:
            ends.close_ours()
            raise
        finally:
            ends.close_theirs()
        return await _process(pid, ends.ours)


def _begun() -> _Server:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NETAUTOD_")}
    command = (sys.executable, "-m", MODULE, str(theirs.fileno()))
    with theirs:
        process = subprocess.Popen(
            tied_to_parent(command, os.getpid()),
            stdin=DEVNULL,
            stdout=DEVNULL,
            pass_fds=[theirs.fileno()],
            env=environment,
        )
    return _Server(process=process, control=ours, environment=environment)


def _folder(options: Mapping[str, Any]) -> Path:
    return Path(options.get("cwd") or ".").absolute()


def _finds_others(folder: Path, environment: Mapping[str, str]) -> bool:
    """Whether Python would take other code than the server has: another checkout, or what site.py imports."""
    places = [folder, *map(Path, filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)))]
    others = [place for place in places if place.absolute() != ROOT]
    return any((place / name).exists() for place in others for name in (*OWN, *CUSTOMIZING))


def _at_begin(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_AT_BEGIN) and name != "PYTHONPATH"
    }


@dataclass(frozen=True, kw_only=True)
class _Ends:
    """`theirs` are to be 0, 1 and 2; `ours` the other ends of those that are pipes."""

    theirs: list[int]
    ours: dict[int, int] = field(default_factory=dict)

    @classmethod
    def made(cls, options: Mapping[str, Any]) -> "_Ends":
        ends = cls(theirs=[])
        try:
            for number, name in enumerate(("stdin", "stdout", "stderr")):
                ends._add(number, options.get(name))
        except BaseException:
            ends.close_theirs()
            ends.close_ours()
            raise
        return ends

    def _add(self, number: int, wanted: Any) -> None:
        if wanted == PIPE:
            read, write = os.pipe()
            self.theirs.append(write if number else read)
            self.ours[number] = read if number else write
        elif wanted == DEVNULL:
            self.theirs.append(os.open(os.devnull, os.O_RDWR))
        elif wanted == STDOUT:
            self.theirs.append(os.dup(self.theirs[1]))
        else:
            descriptor = number if wanted is None else wanted if isinstance(wanted, int) else wanted.fileno()
            if os.isatty(descriptor):
                raise Refused
            self.theirs.append(os.dup(descriptor))

    def close_theirs(self) -> None:
        for descriptor in self.theirs:
            os.close(descriptor)

    def close_ours(self) -> None:
        for descriptor in self.ours.values():
            os.close(descriptor)


async def _process(pid: int, pipes: Mapping[int, int]) -> Process:
    loop = asyncio.get_running_loop()
    transport, protocol = _Transport(pid, loop), _Streams()
    for number, descriptor in pipes.items():
        await protocol.open(number, descriptor, transport, loop)
    return Process(cast(Any, transport), cast(Any, protocol), loop)


class _Streams:
    """What a Process takes of its protocol."""

    stdin: asyncio.StreamWriter | None = None
    stdout: asyncio.StreamReader | None = None
    stderr: asyncio.StreamReader | None = None

    async def open(
        self, number: int, descriptor: int, transport: "_Transport", loop: asyncio.AbstractEventLoop
    ) -> None:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        if number == 0:
            pipe = os.fdopen(descriptor, "wb", 0)
            writing, _ = await loop.connect_write_pipe(lambda: protocol, pipe)
            self.stdin = asyncio.StreamWriter(writing, protocol, None, loop)
            transport.pipes[number] = writing
            return
        reading, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", 0))
        transport.pipes[number] = reading
        if number == 1:
            self.stdout = reader
        else:
            self.stderr = reader


class _Transport:
    """What a Process takes of its transport (asyncio.SubprocessTransport), for a child that is ours."""

    def __init__(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        self._pid = pid
        self._loop = loop
        self._descriptor = os.pidfd_open(pid)
        self._code: int | None = None
        self._over = asyncio.Event()
        self.pipes: dict[int, asyncio.BaseTransport] = {}
        loop.add_reader(self._descriptor, self._ended)

    def _ended(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        _, status = os.waitpid(self._pid, 0)
        self._code = os.waitstatus_to_exitcode(status)
        self._over.set()

    async def _wait(self) -> int:
        await self._over.wait()
        assert self._code is not None
        return self._code

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> int | None:
        return self._code

    def get_pipe_transport(self, number: int) -> asyncio.BaseTransport | None:
        return self.pipes.get(number)

    def send_signal(self, number: int) -> None:
        if self._code is not None:
            raise ProcessLookupError
        os.kill(self._pid, number)

    def terminate(self) -> None:
        self.send_signal(15)

    def kill(self) -> None:
        self.send_signal(9)

    def close(self) -> None:
        for pipe in self.pipes.values():
            pipe.close()


FORKS = Forks()
