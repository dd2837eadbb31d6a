"""inetutils' telnetd on a free port; behind it, on a real terminal, a device's login and command line."""

import asyncio
import shlex
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.programs.started import not_installed, program

PROGRAM = program("telnetd")
USER, PASSWORD = "admin", "simulated"
_DEVICE = Path(__file__).with_name("terminal_device.py")


@asynccontextmanager
async def running_telnetd(folder: Path, config: str, *, password: str = PASSWORD) -> AsyncIterator[int]:
    """The port. As inetd does it: one telnetd for each connection, which is its standard input."""
    if PROGRAM is None:
        not_installed("no telnetd (apt package inetutils-telnetd)")
    file = folder / "config"
    file.write_text(config)
    login = shlex.join([sys.executable, str(_DEVICE), USER, password, str(file)])
    started: list[Process] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        accepting = asyncio.create_task(_accept(listener, [PROGRAM, "--exec-login", login], started))
        try:
            yield listener.getsockname()[1]
        finally:
            accepting.cancel()
            await asyncio.gather(accepting, return_exceptions=True)
            for process in started:
                if process.returncode is None:
                    process.kill()
                await process.wait()


async def _accept(listener: socket.socket, command: list[str], started: list[Process]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        connection, _ = await loop.sock_accept(listener)
        connection.setblocking(True)
        with connection:
            end = connection.fileno()
            started.append(await asyncio.create_subprocess_exec(*command, stdin=end, stdout=end))
