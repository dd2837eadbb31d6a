"""What the README promises: its commands, its links, its picture, and the line that CI runs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from netautod.cli import entry as cli
from tests.support.manual import README, ROOT, blocks, page
from tests.support.readme import block_after

FILE = ROOT / README
LONGEST = 200  # lines
LARGEST_PICTURE = 150_000  # bytes
COMMANDS = re.findall(r"^## netautod (.+)$", page("operate/command-line.md"), re.M)
# Authors of plugins, and readers of the manual, have no installation.
WITHOUT_SETTINGS = ("plugins new", "plugins check", "help")


@pytest.mark.parametrize(
    ("marker", "extras", "last"),
    [
        ("<!-- run command -->", "'.[embedded]'", ".venv/bin/netautod serve"),
        ("<!-- test command -->", "'.[embedded,test]'", ".venv/bin/pytest"),
    ],
)
def test_the_two_commands_are_one_line_each(marker: str, extras: str, last: str) -> None:
    lines = block_after(FILE, marker).splitlines()
    assert len(lines) == 1
    # Debian 12's pip would install without the plugins otherwise.
    assert f".venv/bin/pip install --use-pep517 {'-e ' if 'test' in extras else ''}{extras}" in lines[0]
    assert lines[0].endswith(f" && {last}")


def test_ci_runs_the_very_line_of_the_readme_with_its_checks_between(
    repository_root: Path, tmp_path: Path
) -> None:
    """The lines of the script itself; bash and the checks are commands that only tell of themselves."""
    script = (repository_root / ".ci" / "run").read_text()
    for name in ("bash", ".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/lint-imports"):
        teller = tmp_path / name
        teller.parent.mkdir(parents=True, exist_ok=True)
        teller.write_text(f'#!/bin/sh\nshift $(($# ? $# - 1 : 0))\necho "{name}: $1"\n')
        teller.chmod(0o755)
    (tmp_path / README).write_text(FILE.read_text())
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script[script.index("test_line=") :]],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line.partition(": ") for line in done.stdout.splitlines()]
    halves = [text for name, _, text in told if name == "bash"]
    assert " && ".join(halves) == block_after(FILE, "<!-- test command -->").strip()
    assert [name for name, *_ in told] == [
        "bash",
        *([".venv/bin/ruff"] * 2),
        ".venv/bin/mypy",
        ".venv/bin/lint-imports",
        "bash",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([*command.split(), "--help"])
    assert caught.value.code == 0
    assert ("--data-dir" in capsys.readouterr().out) == (command not in WITHOUT_SETTINGS)


def test_it_can_be_read_at_once() -> None:
    assert page(README).count("\n") <= LONGEST


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", page(README)) if "://" not in link]
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        assert (ROOT / (path or README)).is_file(), link
        headings = re.findall(r"^#+ (.+)$", (ROOT / (path or README)).read_text(), re.M) if anchor else []
        assert not anchor or anchor in [heading.lower().replace(" ", "-") for heading in headings], link


def test_the_picture_of_the_console_is_small() -> None:
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page(README))
    assert 10_000 < (ROOT / picture).stat().st_size < LARGEST_PICTURE


def test_its_variables_are_those_of_the_manual() -> None:
    def login(name: str) -> str:
        [block] = [block.text for block in blocks(page(name), "sh") if block.text.startswith("url=")]
        return block

    assert login(README) == login("use/first-hour.md")
