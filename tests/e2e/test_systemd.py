"""The service under systemd, played by the test: what it is told, and when."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from netautod.server.watch.systemd import longer
from tests.support.execution import eventually
from tests.support.programs.service import NETAUTOD, Service, environment, serving
from tests.support.programs.started import started

pytestmark = pytest.mark.slow
WATCHDOG_USEC = 1_000_000


class Manager:
    """The socket of systemd, and what has come there."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind("\0" + path[1:] if path.startswith("@") else path)
        self.path = path
        self._heard: asyncio.Queue[str] = asyncio.Queue()
        # From the beginning: the kernel keeps ten messages for whoever does not read (max_dgram_qlen).
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while True:
            data = await asyncio.get_running_loop().sock_recv(self._socket, 4096)
            self._heard.put_nowait(data.decode())

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._socket.close()

    async def next(self) -> str:
        async with asyncio.timeout(60):
            return await self._heard.get()

    async def until(self, wanted: Callable[[str], bool]) -> list[str]:
        """What has come, with the first that is wanted at its end."""
        heard = [await self.next()]
        while not wanted(heard[-1]):
            heard.append(await self.next())
        return heard

    async def silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long, once what is on its way has come."""
        while not self._heard.empty():
            self._heard.get_nowait()
        try:
            async with asyncio.timeout(seconds):
                await self._heard.get()
        except TimeoutError:
            return True
        return False


@asynccontextmanager
async def managed(
    path: str, data: Path, *flags: str, command: Sequence[str] = (*NETAUTOD, "serve"), **more: str
) -> AsyncIterator[tuple[Manager, Service]]:
    manager = Manager(path)
    variables = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(WATCHDOG_USEC), **more}
    try:
        async with serving(data, *flags, command=command, variables=variables) as service:
            yield manager, service
    finally:
        await manager.close()


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def frozen(pids: Sequence[int], yes: bool) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP if yes else signal.SIGCONT)


def arguments_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "workers"])
async def test_it_says_that_it_is_ready_alive_and_stopping(tmp_path: Path, flags: tuple[str, ...]) -> None:
    async with managed(str(tmp_path / "notify"), tmp_path / "data", *flags) as (manager, service):
        heard = await manager.until("READY=1".__eq__)
        assert set(heard[:-1]) <= {"WATCHDOG=1", longer()}  # a first start migrates
        await manager.until("WATCHDOG=1".__eq__)
        late = [pid for pid in children(service.process.pid) if "--worker-fd" in arguments_of(pid)][:1]
        frozen(late, True)
        service.process.send_signal(signal.SIGHUP)
        told = (await manager.until(lambda text: text.startswith("RELOADING=1\nMONOTONIC_USEC=")))[-1]
        assert int(told.rpartition("=")[2]) > 0
        if late:  # the reload is over when the last worker has read everything
            alive = [await manager.until("WATCHDOG=1".__eq__) for _ in range(2)]
            assert alive == [["WATCHDOG=1"]] * 2
            frozen(late, False)
        await manager.until("READY=1".__eq__)
        await service.client()  # and it goes on serving
        stopping = asyncio.create_task(service.stop())
        await manager.until("STOPPING=1".__eq__)
        assert await stopping == 0


async def test_a_socket_without_a_file(tmp_path: Path) -> None:
    async with managed(f"@netautod-test-{os.getpid()}", tmp_path / "data") as (manager, _):
        await manager.until("READY=1".__eq__)


async def test_no_sign_of_life_while_the_loop_is_held_up(tmp_path: Path) -> None:
    """Nor is it given up meanwhile by the process that watches it: the setting says never."""
    never = {"NETAUTOD_SERVER_MAX_STALL_SECONDS": "0"}
    async with managed(str(tmp_path / "notify"), tmp_path / "data", **never) as (manager, service):
        await manager.until("READY=1".__eq__)
        serving_process = children(service.process.pid)[0]
        os.kill(serving_process, signal.SIGSTOP)
        await eventually(lambda: manager.silent(WATCHDOG_USEC / 1e6 * 2))
        os.kill(serving_process, signal.SIGCONT)
        await manager.until("WATCHDOG=1".__eq__)


BLOCKED = """
import signal, sys, time
from pathlib import Path
from netautod.cli.entry import main
def block(*_):  # between two steps of the loop, which stands still until the file is gone
    while Path({flag!r}).exists():
        time.sleep(0.05)
signal.signal(signal.SIGUSR2, block)
sys.exit(main(sys.argv[1:]))
"""


async def test_no_sign_of_life_while_code_blocks_the_loop(tmp_path: Path) -> None:
    """The process runs all the while, and the one that watches it, too."""
    flag = tmp_path / "blocked"
    command = (sys.executable, "-c", BLOCKED.format(flag=str(flag)), "serve")
    never = {"NETAUTOD_SERVER_MAX_STALL_SECONDS": "0"}
    async with managed(str(tmp_path / "notify"), tmp_path / "data", command=command, **never) as (
        manager,
        service,
    ):
        await manager.until("READY=1".__eq__)
        await manager.until("WATCHDOG=1".__eq__)
        flag.touch()
        service.process.send_signal(signal.SIGUSR2)
        await eventually(lambda: manager.silent(WATCHDOG_USEC / 1e6 * 2))
        flag.unlink()
        await manager.until("WATCHDOG=1".__eq__)
        assert (await (await service.anonymous()).get("/health")).status == 200


async def test_another_process_is_watched(tmp_path: Path) -> None:
    """The variables of a manager further up are no business of ours."""
    another = {"WATCHDOG_PID": "1"}
    async with managed(str(tmp_path / "notify"), tmp_path / "data", **another) as (manager, service):
        heard = await manager.until("READY=1".__eq__)
        await service.stop()
        heard += await manager.until("STOPPING=1".__eq__)
        # The first start makes the indexes, and asks for time to do so.
        assert [one for one in heard if not one.startswith("EXTEND_TIMEOUT_USEC=")] == [
            "READY=1",
            "STOPPING=1",
        ]


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "workers"])
async def test_a_reload_while_it_starts_does_not_end_it(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """The database takes the connection and says nothing."""
    connected = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read(-1)
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as database:
        port = database.sockets[0].getsockname()[1]
        command = (*NETAUTOD, "serve", *flags, "--port", "0", "--data-dir", str(tmp_path / "data"))
        uri = f"mongodb://127.0.0.1:{port}/?directConnection=true"
        env = environment(NETAUTOD_MONGODB_URI=uri)
        async with started(*command, log=tmp_path / "log", env=env) as process:
            async with asyncio.timeout(60):
                await connected.wait()
            process.send_signal(signal.SIGHUP)
            process.terminate()
            assert await process.wait() != -signal.SIGHUP
            assert "netautod: " in (tmp_path / "log").read_text()  # it has ended by itself, with a line
