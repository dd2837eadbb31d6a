"""Hosts of fakenos (PyPI) in a process of their own, so that its threads cannot disturb a test.

fakenos is an SSH server on paramiko, which nobody here wrote: a shell that echoes byte by byte and knows
`enable`. It has no pager and no exec channel, and two of its platforms only bring a configuration.
"""

import json
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from tests.support.programs.started import free_ports, module_listening, not_installed


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
    inventory = json.dumps({"hosts": {host.name: _settings(host, ports[host.platform]) for host in hosts}})
    async with module_listening(__name__, inventory, ports=ports.values()):
        yield ports


def _settings(host: FakeHost, port: int) -> dict[str, object]:
    commands = {command: {"output": output} for command, output in host.commands}
    return {
        "username": host.username,
        "password": host.password,
        "port": port,
        "platform": host.platform,
        "nos": {"plugin": host.platform, "configuration": {"commands": commands}},
    }


if __name__ == "__main__":
    import_module("fakenos").FakeNOS(inventory=json.loads(sys.argv[1])).start()
    signal.pause()
