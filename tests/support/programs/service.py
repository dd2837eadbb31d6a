"""A real `netautod serve` subprocess on a free port, and the other commands beside it."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.support.client import ApiClient
from tests.support.fetching import fetch_found
from tests.support.programs.started import ROOT, started

# The program that is tested: that of this checkout, or an installed one (tests/repository/test_packaging.py).
TESTED = "TESTED_PROGRAM"
NETAUTOD = (os.environ[TESTED],) if TESTED in os.environ else (sys.executable, "-m", "netautod")
READY = re.compile(r"netautod ready on (https?://127\.0\.0\.1:\d+)")
START_SECONDS = 110.0  # of a hang: a loaded machine is slow
# Deaths of nodes are noticed ten times sooner than by default.
QUICK_LEASES = {
    "NETAUTOD_EXECUTIONS_LEASE_SECONDS": "3",
    "NETAUTOD_EXECUTIONS_HEARTBEAT_SECONDS": "0.5",
    "NETAUTOD_EXECUTIONS_ABANDON_SECONDS": "2",
    "NETAUTOD_EXECUTIONS_REAP_GRACE_SECONDS": "0.5",
}


# The loop that an installation without extras has; uvloop's is asked for.
PLAIN_LOOP = {"NETAUTOD_SERVER_UVLOOP": "false"}


class NotStarted(AssertionError):
    """The service ended before it was ready."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    code: int
    out: str
    err: str


@dataclass(kw_only=True)
class Service:
    """A running service. `printed`: its lines up to the ready line; `seconds`: from the start to it."""

    process: Process
    data_dir: Path
    url: str
    printed: list[str]
    seconds: float
    log: Path
    description: dict[str, Any] = field(default_factory=dict)

    @property
    def password(self) -> str:
        """The generated password of the printed block."""
        shown = [line.split()[1] for line in self.printed if line.strip().startswith("Password")]
        assert len(shown) == 1, self.printed
        return shown[0]

    async def anonymous(self) -> ApiClient:
        """A client without a token that holds answers to what the service says of itself."""
        if not self.description:
            answer = await fetch_found(f"{self.url}/api/openapi.json")
            self.description = _described(answer.body)
        return ApiClient(base_url=self.url, description=self.description)

    async def client(self, username: str = "admin", password: str | None = None) -> ApiClient:
        """A client that is logged in, with the first password unless another is given."""
        client = await self.anonymous()
        login = {"username": username, "password": password or first_password(self.data_dir)}
        response = await client.post("/api/auth/login", login)
        assert response.status == 200, response.content
        return client.with_token(response.json["access_token"])

    async def stop(self, seconds: float = 60.0) -> int:
        """SIGTERM, and the exit code."""
        if self.process.returncode is None:
            self.process.terminate()
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    async def kill(self) -> None:
        """SIGKILL: the service can clean up nothing."""
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


@lru_cache(maxsize=8)
def _described(body: bytes) -> dict[str, Any]:
    """One for all services that are described alike: what is compiled for one of them serves all."""
    found: dict[str, Any] = json.loads(body)
    return found


def plugin_names() -> list[str]:
    """The plugins of this checkout, as their entry points call them."""
    folders = (ROOT / "plugins").glob("*/__init__.py")
    return sorted(path.parent.name.removeprefix("netautod_") for path in folders)


def first_password(data_dir: Path) -> str:
    return (data_dir / "initial-admin-password").read_text().strip()


def environment(**changes: str) -> dict[str, str]:
    """The environment of the tests without settings of netautod, and with the given changes."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NETAUTOD_") and name not in ("STATE_DIRECTORY", "NOTIFY_SOCKET")
    }
    return {**kept, **changes}


@asynccontextmanager
async def serving(
    data_dir: Path,
    *flags: str,
    command: Sequence[str] = (*NETAUTOD, "serve"),
    variables: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> AsyncIterator[Service]:
    """A service on a free port, until the end of the block; `flags` and `variables` are added."""
    os.makedirs(data_dir, exist_ok=True)
    log, started_at = data_dir / "service.log", time.monotonic()
    whole = (*command, "--port", "0", "--data-dir", str(data_dir), *flags)
    env = environment(**{**PLAIN_LOOP, **(variables or {})})
    async with started(*whole, stdout=PIPE, log=log, env=env, cwd=cwd) as process:
        printed = await _until_ready(process, log)
        ready = READY.fullmatch(printed[-1])
        assert ready is not None
        yield Service(
            process=process,
            data_dir=data_dir,
            url=ready[1],
            printed=printed,
            seconds=time.monotonic() - started_at,
            log=log,
        )


def _tail(log: Path) -> str:
    return log.read_text()[-4000:]


async def _until_ready(process: Process, log: Path) -> list[str]:
    assert process.stdout is not None
    printed: list[str] = []
    async with asyncio.timeout(START_SECONDS):
        while not printed or READY.fullmatch(printed[-1]) is None:
            line = await process.stdout.readline()
            if not line:
                raise NotStarted(f"exit code {await process.wait()}: {_tail(log)}")
            printed.append(line.decode().rstrip("\n"))
    return printed


async def run(
    *arguments: str,
    command: Sequence[str] = NETAUTOD,
    variables: Mapping[str, str] | None = None,
    given: str = "",
    cwd: Path | None = None,
    seconds: float = START_SECONDS,
) -> Finished:
    """A command to its end; `given` is its standard input."""
    env = environment(**(variables or {}))
    running = started(
        *command, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, slow_to_leave=True, env=env, cwd=cwd
    )
    async with asyncio.timeout(seconds), running as process:
        out, err = await process.communicate(given.encode())
    assert process.returncode is not None
    return Finished(code=process.returncode, out=out.decode(), err=err.decode())
