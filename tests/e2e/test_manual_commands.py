"""The commands of README and of the pages for users, run as printed against a demo of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.manual import blocks, commands, page, pages, section
from tests.support.programs.service import Finished, serving
from tests.support.programs.shell import run_commands

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
FIRST_HOUR = "use/first-hour.md"
PRINTED_URL = "http://127.0.0.1:8080"
USE = [name for name in pages() if name.startswith("use/") and commands(name, page(name))]


@asynccontextmanager
async def a_demo() -> AsyncIterator[tuple[Path, str]]:
    """Start a demo with its data folder below a home folder of its own; yield that folder and the URL."""
    with TemporaryDirectory(prefix="netautod-manual-") as folder:
        home = Path(folder)
        async with serving(home / ".local" / "share" / "netautod", "--demo") as service:
            yield home, service.url


def login_commands() -> str:
    """Return the block that gives the variables of all pages their values."""
    return blocks(section(page(FIRST_HOUR), "Log in from the shell"), "sh")[0].text


async def followed(printed: list[str]) -> Finished:
    """Run blocks against a demo; only the port of the service differs from what is printed."""
    assert any(PRINTED_URL in block for block in printed)
    async with a_demo() as (home, url):
        return await run_commands([block.replace(PRINTED_URL, url) for block in printed], home)


@pytest.mark.parametrize("name", USE)
async def test_every_command_of_a_page_succeeds(name: str) -> None:
    printed = commands(name, page(name))
    before = [] if name == FIRST_HOUR else [login_commands()]
    done = await followed([*before, *printed])
    assert done.code == 0, f"{done.err[-4000:]}\n{done.out[-2000:]}"


async def test_a_command_that_gets_an_error_fails() -> None:
    done = await followed([login_commands(), 'curl -s $url/api/devices/nowhere -H "$auth" | jq .'])
    assert done.code != 0
    assert "error" in done.out
