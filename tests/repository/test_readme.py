"""The README is true to the code: commands and routes that exist, and the line that CI runs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from netautod.assembly import routes
from netautod.cli import entry as cli
from tests.support.readme import block_after

README = Path(__file__).parents[2] / "README.md"
COMMANDS = (
    "serve",
    "check-config",
    "doctor",
    "backup",
    "restore",
    "plugins",
    "plugins --details",
    "report",
    "plugins settings",
    "plugins purge",
    "secret set",
    "secret list",
    "secret delete",
    "plugins new",
    "plugins check",
    "openapi",
    "import",
    "import-configs",
    "export-configs",
    "rotate-keys",
    "sync",
    "user add",
    "user list",
    "user passwd",
    "user disable",
    "user enable",
    "user unlock",
    "user remove-otp",
    "org create",
    "org list",
    "org delete",
    "audit verify",
    "audit export",
    "agent verify",
    "platform list",
    "platform try",
)
# Authors of plugins have no installation.
WITHOUT_SETTINGS = ("plugins new", "plugins check")


@pytest.mark.parametrize(
    ("marker", "extras", "last"),
    [
        ("<!-- run command -->", "'.[embedded]'", ".venv/bin/netautod serve"),
        ("<!-- test command -->", "'.[embedded,test]'", ".venv/bin/pytest"),
    ],
)
def test_the_two_commands_are_one_line_each(marker: str, extras: str, last: str) -> None:
    lines = block_after(README, marker).splitlines()
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
    (tmp_path / "README.md").write_text(README.read_text())
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
    assert " && ".join(halves) == block_after(README, "<!-- test command -->").strip()
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


def test_the_routes_of_the_readme_exist() -> None:
    paths = routes.description()["paths"]
    block = block_after(README, "## First steps")
    called = {re.sub(r"\$\w+", "$", url) for url in re.findall(r"\$url(/[\w/$-]+)", block)}
    assert len(called) >= 8
    assert called <= {re.sub(r"\{\w+\}", "$", path) for path in paths}
