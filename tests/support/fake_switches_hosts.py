"""Switches of fake-switches (PyPI) in a process of their own, so that its reactor cannot disturb a test.

fake-switches is an SSH server on Twisted, which nobody here wrote: switches with an enable password, config
modes and Dell's pager. It pins a Twisted of 2016; it is installed without its pins, beside a current one,
into a folder of its own.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.sshd import free_port, listening

USERNAME = "admin"
_PACKAGE = "fake-switches==1.5.0"
_PROGRAM = Path(__file__).with_name("fake_switches_program.py")
NEEDS = ("Twisted[conch]>=24", "netaddr", "lxml", "tftpy")


async def installed() -> Path:
    """The folder with the packages, made once per machine; skips where pip cannot make it, fails in CI."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "netautod-tests" / f"{_PACKAGE}-py{sys.version_info[0]}.{sys.version_info[1]}"
    done = folder / "complete"
    if not done.exists():
        for packages in (("--no-deps", _PACKAGE), NEEDS):
            await _pip("--target", str(folder), "--upgrade", *packages)
        done.touch()
    return folder


async def _pip(*arguments: str) -> None:
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    process = await asyncio.create_subprocess_exec(
        *pip, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
    )
    told = (await process.communicate())[0].decode()
    if process.returncode != 0:
        # Not to be missed where the suite must be complete.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"pip cannot install it: {told[-500:]}")


@asynccontextmanager
async def running_switches(models: Sequence[str], password: str) -> AsyncIterator[dict[str, int]]:
    """Starts one switch of each model, answers their ports; the password is that of enable, too."""
    folder = await installed()
    ports = {model: free_port() for model in models}
    switches = [f"{port}={model}" for model, port in ports.items()]
    command = (sys.executable, "-W", "ignore", str(_PROGRAM), str(folder), USERNAME, password, *switches)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL)
    try:
        for port in ports.values():
            await listening(port)
        yield ports
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
