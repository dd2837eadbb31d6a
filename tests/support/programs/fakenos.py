"""Hosts of fakenos (PyPI) in a process of their own, so that its threads cannot disturb a test.

fakenos is an SSH server on paramiko, which nobody here wrote: a shell that echoes byte by byte and knows
`enable`. It has no pager and no exec channel, and two of its platforms only bring a configuration.
"""

import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tests.support.programs.started import free_ports, listening, not_installed, started

_ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, kw_only=True)
class FakeHost:
    """`platform` as fakenos calls it; `name` is printed in the prompt, before `>` (`~$` on some platforms).

    `commands` maps commands that its platform lacks to their output; `username` is all that may log in.
    """

    platform: str
    name: str
    username: str
    password: str
    commands: tuple[tuple[str, str], ...] = ()


@asynccontextmanager
async def running_hosts(hosts: Sequence[FakeHost]) -> AsyncIterator[dict[str, int]]:
    """Starts them, answers their ports by platform."""
    if find_spec("fakenos") is None:
        not_installed("fakenos is not installed")
    ports = dict(zip((host.platform for host in hosts), free_ports(len(hosts)), strict=True))
    command = (sys.executable, "-m", __name__)
    # Its threads would take seconds to leave.
    async with started(*command, stdin=PIPE, cwd=_ROOT, slow_to_leave=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(_inventory(hosts, ports)).encode() + b"\n")
        await process.stdin.drain()
        for port in ports.values():
            await listening(port)
        yield ports


def _inventory(hosts: Sequence[FakeHost], ports: dict[str, int]) -> dict[str, object]:
    return {
        "hosts": {
            host.name: {
                "username": host.username,
                "password": host.password,
                "port": ports[host.platform],
                "platform": host.platform,
                "nos": {
                    "plugin": host.platform,
                    "configuration": {
                        "commands": {command: {"output": output} for command, output in host.commands}
                    },
                },
            }
            for host in hosts
        }
    }


def _serve() -> None:
    """The process of the hosts: reads their inventory as a line of JSON, ends with its input."""
    import_module("fakenos").FakeNOS(inventory=json.loads(sys.stdin.readline())).start()
    sys.stdin.read()  # ends when the test does, however it ends
    os._exit(0)


if __name__ == "__main__":
    _serve()
