"""The commands of README and of the pages for users, run as printed against one demo.

A reader goes from page to page on the same demo, so the pages share one, too; each has a folder of its own.
Other systems that a page names (a NetBox, a language model, a receiver of webhooks) are servers of the test.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.manual import README, blocks, commands, page, pages, section
from tests.support.programs.service import Finished, serving
from tests.support.programs.shell import run_commands
from tests.support.servers.model_server import model_server
from tests.support.servers.netbox import V2_TOKEN, NetBoxReplay
from tests.support.servers.webhook_receiver import receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
FIRST_HOUR = "use/first-hour.md"
PRINTED_URL = "http://127.0.0.1:8080"
USE = [name for name in pages() if name.startswith("use/") and commands(name, page(name))]


@dataclass(frozen=True, kw_only=True)
class Demo:
    """A running demo below a home folder, its settings, and what stands for printed addresses."""

    home: Path
    variables: dict[str, str]
    printed: dict[str, str]

    async def follow(self, name: str, *blocks: str) -> Finished:
        """Run the blocks of a page in a folder of their own."""
        folder = f'mkdir -p "$HOME/{name}" && cd "$HOME/{name}"'
        here = [self._here(block) for block in blocks]
        return await run_commands([folder, *here], self.home, variables=self.variables)

    def _here(self, text: str) -> str:
        for printed, real in self.printed.items():
            text = text.replace(printed, real)
        return text


@pytest.fixture(scope="module")
async def demo() -> AsyncIterator[Demo]:
    netbox = NetBoxReplay()
    try:
        with TemporaryDirectory(prefix="netautod-manual-") as folder:
            home = Path(folder)
            data = home / ".local" / "share" / "netautod"
            async with (
                receiving() as receiver,
                model_server() as model,
                serving(data, "--demo", variables=model.variables) as service,
            ):
                printed = {
                    PRINTED_URL: service.url,
                    "https://netbox.example": netbox.url,
                    "nbt_...": V2_TOKEN,
                    "https://chat.example/hook": receiver.url,
                }
                yield Demo(home=home, variables=model.variables, printed=printed)
    finally:
        netbox.close()


def login_commands() -> str:
    """Return the block that gives the variables of all pages their values."""
    return blocks(section(page(FIRST_HOUR), "Log in from the shell"), "sh")[0].text


@pytest.mark.parametrize("name", USE)
async def test_every_command_of_a_page_succeeds(demo: Demo, name: str) -> None:
    before = [] if name == FIRST_HOUR else [login_commands()]
    done = await demo.follow(name, *before, *commands(name, page(name)))
    assert done.code == 0, f"{done.err[-4000:]}\n{done.out[-2000:]}"


async def test_every_command_of_the_ten_minutes_succeeds(demo: Demo) -> None:
    done = await demo.follow(README, *commands(README, section(page(README), "Ten minutes")))
    assert done.code == 0, f"{done.err[-4000:]}\n{done.out[-2000:]}"


async def test_a_command_that_gets_an_error_fails(demo: Demo) -> None:
    done = await demo.follow(".", login_commands(), 'curl -s $url/api/devices/nowhere -H "$auth" | jq .')
    assert done.code != 0
    assert "error" in done.out
