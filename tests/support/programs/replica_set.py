"""A MongoDB replica set of the tests: members that can be killed, and a primary that steps down."""

import asyncio
import signal
import struct
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import bson

from netautod.store.embedded.program import find_mongod, minimal_environment
from tests.support.programs.started import free_ports, started

SET_NAME = "faults"
# An election starts after this long without a primary; the default of 10 s makes a fail-over 11 s long.
ELECTION_MILLIS = 1000
# https://github.com/mongodb/mongo/blob/r6.0.5/src/mongo/base/error_codes.yml
EXCEEDED_TIME_LIMIT = 262
POLL_SECONDS = 0.05
START_SECONDS = 30.0


class ReplicaSet:
    """Three members on loopback; `uri` names them all. Made by `replica_set`.

    The servers take test commands, so that `fail` can refuse chosen commands.
    """

    def __init__(
        self, folder: Path, stack: AsyncExitStack, *, election_millis: int = ELECTION_MILLIS
    ) -> None:
        self._election_millis = election_millis
        self._folder = folder
        self._stack = stack
        self._ports = free_ports(3)
        self._processes: dict[int, Process] = {}
        self._hanging: set[int] = set()

    @property
    def uri(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        return f"mongodb://{hosts}/?replicaSet={SET_NAME}"

    async def begin(self) -> None:
        await asyncio.gather(*(self.start(port) for port in self._ports))
        members = [{"_id": number, "host": f"127.0.0.1:{port}"} for number, port in enumerate(self._ports)]
        millis = self._election_millis
        settings = {"electionTimeoutMillis": millis, "heartbeatIntervalMillis": min(2000, millis // 2)}
        wanted = {"_id": SET_NAME, "members": members, "settings": settings}
        await command(self._ports[0], {"replSetInitiate": wanted})
        await self.primary()

    async def start(self, port: int) -> None:
        """Starts a member (again); returns when it answers."""
        data = self._folder / str(port)
        data.mkdir(exist_ok=True)
        starting = started(
            str(find_mongod()),
            *_options(data, port),
            slow_to_leave=True,
            env=minimal_environment(),
            start_new_session=True,
        )
        self._processes[port] = await self._stack.enter_async_context(starting)
        async with asyncio.timeout(START_SECONDS):
            while await _hello(port) is None:
                assert self._processes[port].returncode is None, data.with_suffix(".log").read_text()[-2000:]
                await asyncio.sleep(POLL_SECONDS)

    async def primary(self) -> int:
        """The port of the writable member, once there is one."""
        async with asyncio.timeout(START_SECONDS):
            while True:
                for port in self._processes.keys() - self._hanging:
                    hello = await _hello(port)
                    if hello is not None and hello["isWritablePrimary"]:
                        return port
                await asyncio.sleep(POLL_SECONDS)

    async def step_down(self) -> None:
        """The primary gives up its role and is not elected for 5 s; its connections break."""
        with suppress(OSError, asyncio.IncompleteReadError):
            await command(
                await self.primary(), {"replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 2, "force": True}
            )

    async def kill_primary(self) -> int:
        """kill -9; answers the port, for `start`."""
        port = await self.primary()
        await self.kill(port)
        return port

    async def kill(self, port: int) -> None:
        process = self._processes.pop(port)
        process.kill()
        await process.wait()

    async def hang_primary(self) -> int:
        """SIGSTOP: it keeps its connections and says nothing more; answers the port, for `wake`."""
        port = await self.primary()
        self._processes[port].send_signal(signal.SIGSTOP)
        self._hanging.add(port)
        return port

    def wake(self, port: int) -> None:
        self._processes[port].send_signal(signal.SIGCONT)
        self._hanging.discard(port)

    def alive(self) -> list[int]:
        """The ports of the members that run."""
        return list(self._processes)

    async def fail(self, name: str, *, mode: Any = "alwaysOn", namespace: str) -> None:
        """The primary answers these commands with "exceeded time limit", until `mode` is over.

        The fail point: https://github.com/mongodb/mongo/wiki/The-failCommand-fail-point. A code that told of
        a primary going away would make the driver avoid the server for up to 10 s.
        """
        data = {"failCommands": [name], "errorCode": EXCEEDED_TIME_LIMIT, "namespace": namespace}
        await self._fail_point({"mode": mode, "data": data})

    async def block(self, name: str, *, seconds: float, namespace: str) -> None:
        """The primary takes this long to begin with each of these commands."""
        wait = {"blockConnection": True, "blockTimeMS": int(seconds * 1000)}
        data = {"failCommands": [name], "namespace": namespace, **wait}
        await self._fail_point({"mode": "alwaysOn", "data": data})

    async def fail_no_more(self) -> None:
        await self._fail_point({"mode": "off"})

    async def _fail_point(self, options: Mapping[str, Any]) -> None:
        await command(await self.primary(), {"configureFailPoint": "failCommand", **options})


@asynccontextmanager
async def replica_set(folder: Path, *, election_millis: int = ELECTION_MILLIS) -> AsyncIterator[ReplicaSet]:
    """With a primary; killed at the end."""
    async with AsyncExitStack() as stack:
        members = ReplicaSet(folder, stack, election_millis=election_millis)
        await members.begin()
        yield members


async def command(port: int, document: Mapping[str, Any]) -> dict[str, Any]:
    """One command on the database `admin` of one member, without a driver that has its own idea of the set.

    OP_MSG: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg
    """
    body = bson.encode({**document, "$db": "admin"})
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        # Length, request id, response to, the code of OP_MSG; no flags; one section of kind 0.
        writer.write(struct.pack("<iiiiIB", 21 + len(body), 1, 0, 2013, 0, 0) + body)
        (length,) = struct.unpack("<i", await reader.readexactly(4))
        answer: dict[str, Any] = bson.decode((await reader.readexactly(length - 4))[17:])
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    assert answer["ok"] == 1, answer
    return answer


async def _hello(port: int) -> dict[str, Any] | None:
    try:
        return await command(port, {"hello": 1})
    except (OSError, asyncio.IncompleteReadError):
        return None


def _options(data: Path, port: int) -> list[str]:
    options = [
        "--logpath",
        f"{data}.log",
        "--logappend",
        "--dbpath",
        str(data),
        "--port",
        str(port),
        "--bind_ip",
        "127.0.0.1",
        "--nounixsocket",
    ]
    options += ["--replSet", SET_NAME, "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "64", "--quiet"]
    for parameter in ("enableTestCommands=1", "diagnosticDataCollectionEnabled=false"):
        options += ["--setParameter", parameter]
    return options
