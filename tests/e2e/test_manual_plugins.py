"""The commands of the pages for authors of plugins, run as printed beside an installed wheel of netautod."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from netautod.assembly.settings import table
from netautod.plugin_host.scaffold import scaffold
from tests.e2e.test_manual_commands import PRINTED_URL, login_commands
from tests.support.manual import blocks, commands, page, pages
from tests.support.programs.service import serving
from tests.support.programs.shell import Terminal, programs, terminal
from tests.support.wheels import Environment, environment_of_wheels

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
FIRST = "extend/first-plugin.md"
OTHERS = [
    name for name in pages() if name.startswith("extend/") and name != FIRST and commands(name, page(name))
]
SERVE = "netautod serve --demo\n"


@pytest.fixture(scope="module")
async def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return await environment_of_wheels(tmp_path_factory.mktemp("clean"))


@pytest.fixture
def variables(installed: Environment, tmp_path: Path) -> dict[str, str]:
    """Return those of a person whose home is empty, with the environment's programs on the path."""
    python = str(installed.python)
    folder = programs(
        tmp_path / "bin",
        netautod=[str(installed.programs / "netautod")],
        pip=[python, "-m", "pip"],
        pytest=[python, "-m", "pytest"],
    )
    found = installed.variables(HOME=str(tmp_path), PIP_NO_INDEX="1", PIP_NO_BUILD_ISOLATION="0")
    return {**found, "PATH": f"{folder}:{found['PATH']}"}


@pytest.fixture
async def person(variables: dict[str, str], tmp_path: Path) -> AsyncIterator[Terminal]:
    async with terminal(tmp_path, variables) as started:
        yield started


async def test_a_stranger_writes_the_first_plugin(
    person: Terminal, variables: dict[str, str], tmp_path: Path
) -> None:
    printed = commands(FIRST, page(FIRST))
    assert printed.count(SERVE) == 2
    printed_lines: list[str] = []
    async with AsyncExitStack() as stack:
        for block in printed:
            if block != SERVE:
                printed_lines.append(await person.enter(block))
                continue
            await stack.aclose()  # Control-C in the second terminal
            service = await stack.enter_async_context(
                serving(
                    tmp_path / ".local" / "share" / "netautod",
                    "--demo",
                    command=("netautod", "serve"),
                    variables=variables,
                )
            )
            await person.enter(login_commands().replace(PRINTED_URL, service.url))
    out = "".join(printed_lines)
    assert out.count("3 passed") == 2
    assert '"state": "completed"' in out
    assert "\n2 answers\n" in out


async def test_the_executor_of_the_first_plugin_is_the_one_that_is_printed(tmp_path: Path) -> None:
    [printed] = blocks(page(FIRST), "python")
    project = scaffold("acme_ask", kind="executor", directory=tmp_path, core=list(table()))
    assert printed.text in (project / "acme_ask" / "executor.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OTHERS)
async def test_every_command_of_a_page_succeeds(name: str, person: Terminal, tmp_path: Path) -> None:
    scaffold("acme_ask", kind="executor", directory=tmp_path / "work", core=list(table()))
    await person.enter("cd acme_ask\n")
    for block in commands(name, page(name)):
        await person.enter(block)


async def test_a_command_that_fails_is_found(person: Terminal) -> None:
    assert await person.enter("value=1\necho one; false || echo two\n") == "one\ntwo\n"
    with pytest.raises(AssertionError, match="no_such_command"):
        await person.enter("no_such_command\necho $value\n")
