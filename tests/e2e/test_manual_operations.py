"""The commands of the pages for administrators, run as printed beside a demo with a fresh data folder.

Folders of the machine (`/etc`, `/backups`) are folders of the test; `config/` is that of the checkout.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e.test_manual_commands import PRINTED_URL, login_commands
from tests.support.manual import commands, page, pages
from tests.support.programs.service import Finished, serving
from tests.support.programs.shell import run_commands
from tests.support.programs.started import ROOT, free_ports

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
OPERATE = [name for name in pages() if name.startswith("operate/") and commands(name, page(name))]
FOLDERS = ("/etc/cron.d", "/etc/ssh", "/etc/netautod", "/usr/local/sbin", "/backups")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A running demo, its home folder, and what stands in the test for printed addresses and folders."""

    home: Path
    printed: dict[str, str]

    async def follow(self, *blocks: str) -> Finished:
        return await run_commands([self._here(block) for block in blocks], self.home)

    def _here(self, text: str) -> str:
        for printed, real in self.printed.items():
            text = text.replace(printed, real)
        return text


@asynccontextmanager
async def machine() -> AsyncIterator[Machine]:
    """Start a demo with metrics, and make the folders that its machine would have."""
    with TemporaryDirectory(prefix="netautod-manual-") as folder:
        home, [metrics] = Path(folder), free_ports(1)
        for name in FOLDERS:
            (home / name.removeprefix("/")).mkdir(parents=True)
        (home / "work").mkdir()
        (home / "work" / "config").symlink_to(ROOT / "config")
        data, variables = home / ".local" / "share" / "netautod", {"NETAUTOD_METRICS_PORT": str(metrics)}
        async with serving(data, "--demo", variables=variables) as service:
            printed = {name: f"{home}{name}" for name in FOLDERS}
            printed |= {PRINTED_URL: service.url, "https://netautod.example.org": service.url}
            yield Machine(home=home, printed={**printed, "127.0.0.1:9464": f"127.0.0.1:{metrics}"})


@pytest.mark.parametrize("name", OPERATE)
async def test_every_command_of_a_page_succeeds(name: str) -> None:
    async with machine() as here:
        done = await here.follow(login_commands(), *commands(name, page(name)))
    assert done.code == 0, f"{done.err[-4000:]}\n{done.out[-2000:]}"
