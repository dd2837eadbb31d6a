"""Hosts of fakenos (PyPI) in a process of their own, so that its threads cannot disturb a test.

fakenos is an SSH server on paramiko, which nobody here wrote: a shell that echoes byte by byte and knows
`enable`. It has no pager and no exec channel, and two of its platforms only bring a configuration.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.sshd import free_port, listening

_PROGRAM = Path(__file__).with_name("fakenos_program.py")


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


def missing(package: str) -> bool:
    """Whether a counterpart is not installed; in CI that fails the test."""
    absent = find_spec(package) is None
    if absent and os.environ.get("CI"):
        pytest.fail(f"{package} is not installed")
    return absent


@asynccontextmanager
async def running_hosts(hosts: Sequence[FakeHost]) -> AsyncIterator[dict[str, int]]:
    """Starts them, answers their ports by platform."""
    ports = {host.platform: free_port() for host in hosts}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(_PROGRAM), stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL
    )
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(_inventory(hosts, ports)).encode() + b"\n")
        await process.stdin.drain()
        for port in ports.values():
            await listening(port)
        yield ports
    finally:
        if process.returncode is None:
            process.kill()  # its threads would take seconds to leave
        await process.wait()


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
