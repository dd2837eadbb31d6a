"""The commands of README and manual: what no test runs is listed with its reason and names what exists."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netautod.assembly import routes
from netautod.cli import entry as cli
from tests.support.manual import UnrunBlock, blocks, page, pages, unrun_blocks

FIRST_HOUR = "use/first-hour.md"
VARIABLES = ("url", "auth", "device")
UNRUN = [pytest.param(block, id=f"{block.page}: {block.first_line}") for block in unrun_blocks()]


@pytest.mark.parametrize("block", UNRUN)
def test_what_is_not_run_stands_on_its_page_once(block: UnrunBlock) -> None:
    assert len(found(block)) == 1
    assert block.reason


@pytest.mark.parametrize("block", UNRUN)
def test_the_options_of_what_is_not_run_exist(block: UnrunBlock, capsys: pytest.CaptureFixture[str]) -> None:
    [text] = found(block)
    for command, words in block.options.items():
        shown = help_of(command, capsys)
        for word in words:
            assert word in text, word
            assert word in shown, f"{word}: {command}"


@pytest.mark.parametrize("block", UNRUN)
def test_the_routes_of_what_is_not_run_exist(block: UnrunBlock) -> None:
    known = {re.sub(r"\{\w+\}", "$", path) for path in routes.description()["paths"]}
    [text] = found(block)
    called = {re.sub(r"\$\w+", "$", path) for path in re.findall(r"\$url(/api/[\w/.$-]+)", text)}
    assert called <= known


@pytest.mark.parametrize("name", [name for name in pages() if name != FIRST_HOUR])
def test_variables_of_commands_are_introduced_in_the_first_hour_only(name: str) -> None:
    assert assignments(name) == []


def assignments(name: str) -> list[str]:
    """Return the lines of a page that give a value to a variable that all pages share."""
    lines = "".join(block.text for block in blocks(page(name), "sh"))
    return re.findall(rf"^ *(?:export )?(?:{'|'.join(VARIABLES)})=.*", lines, re.M)


def found(block: UnrunBlock) -> list[str]:
    """Return the blocks of its page that begin with its first line."""
    listed = [one.text for one in blocks(page(block.page), "sh")]
    return [text for text in listed if text.startswith(block.first_line)]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints: one of ours in this process, else a program of the machine."""
    program, *arguments = shlex.split(command)
    if program == "netautod":
        with pytest.raises(SystemExit):
            cli.main(arguments)
        return capsys.readouterr().out
    beside = str(Path(sys.executable).parent)
    found = shutil.which(program, path=f"{beside}:{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"no {program}")
    done = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
