"""Switches of fake-switches (PyPI) in a process of their own, so that its reactor cannot disturb a test.

fake-switches is an SSH server on Twisted, which nobody here wrote: switches with an enable password, config
modes and Dell's pager. It pins a Twisted of 2016; it is installed without its pins, beside a current one,
into a folder of its own.
"""

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

from tests.support.programs.service import run
from tests.support.programs.started import free_ports, module_listening, not_installed

USERNAME = "admin"
_PACKAGE = "fake-switches==1.5.0"
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
NEEDS = ("Twisted[conch]>=24", "netaddr", "lxml", "tftpy")


async def installed() -> Path:
    """The folder with the packages, made once per machine; skips where pip cannot make it, fails in CI."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "netautod-tests" / f"{_PACKAGE}-py{sys.version_info[0]}.{sys.version_info[1]}"
    done = folder / "complete"
    if not done.exists():
        for packages in (("--no-deps", _PACKAGE), NEEDS):
            pip = await run("--target", str(folder), "--upgrade", *packages, command=PIP, seconds=600)
            if pip.code != 0:
                not_installed(f"pip cannot install it: {pip.err[-500:]}")
        done.touch()
    return folder


@asynccontextmanager
async def running_switches(models: Sequence[str], password: str) -> AsyncIterator[dict[str, int]]:
    """Starts one switch of each model, answers their ports; the password is that of enable, too."""
    folder = await installed()
    ports = dict(zip(models, free_ports(len(models)), strict=True))
    switches = [f"{port}={model}" for model, port in ports.items()]
    async with module_listening(__name__, str(folder), password, *switches, ports=ports.values()):
        yield ports


def _serve(folder: str, password: str, *switches: str) -> None:
    """The process of the switches, each a PORT=MODEL."""
    sys.path.insert(0, folder)
    factory = import_module("fake_switches.switch_factory").SwitchFactory()
    service = import_module("fake_switches.transports.ssh_service").SwitchSshService
    reactor = import_module("twisted.internet.reactor")
    for switch in switches:
        port, _, model = switch.partition("=")
        core = factory.get(model, "sw1", password)
        users = {USERNAME: password.encode()}
        service(ip="127.0.0.1", port=int(port), switch_core=core, users=users).hook_to_reactor(reactor)
    reactor.run()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
