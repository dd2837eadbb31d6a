"""What CI runs, and what an editor and pre-commit are told, say the same."""

import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, date, datetime
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.manual import page
from tests.support.programs.fake_switches import NEEDS


@pytest.fixture
def script(repository_root: Path) -> str:
    return (repository_root / ".ci" / "run").read_text()


@pytest.fixture
def constraints(repository_root: Path) -> dict[str, str]:
    """Version by distribution."""
    lines = (repository_root / ".ci" / "constraints.txt").read_text().splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def required(name: str, extras: set[str]) -> Iterator[Requirement]:
    """What the distribution asks for on this machine, with these extras of it."""
    for line in requires(name) or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield requirement


def test_the_constraints_pin_all_that_ci_installs(constraints: dict[str, str]) -> None:
    waiting = [*required("netautod", {"embedded", "test"}), Requirement("setuptools")]
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        assert name in constraints, f"{requirement}: run .ci/renew-constraints"
        assert requirement.specifier.contains(constraints[name]), f"{requirement}: run .ci/renew-constraints"
        if (key := str(requirement)) not in seen:
            seen.add(key)
            waiting.extend(required(name, requirement.extras) if name != "setuptools" else ())
    assert len(seen) > 50


def test_the_constraints_pin_what_the_tests_install(constraints: dict[str, str]) -> None:
    for requirement in map(Requirement, NEEDS):
        assert requirement.specifier.contains(constraints[canonicalize_name(requirement.name)])


def test_ci_installs_by_the_constraints(script: str, repository_root: Path) -> None:
    line = 'export PIP_CONSTRAINT="$PWD/.ci/constraints.txt"'
    before, found, after = script.partition(line)
    assert found
    assert f"`{line}`" in page("develop/tests.md")
    assert "cd " in before
    assert "test_line=" in after
    day = re.search(r"^npm_config_before=.*$", after, re.MULTILINE)
    assert day is not None
    told = f'PIP_CONSTRAINT={repository_root}/.ci/constraints.txt; {day[0]}; echo "$npm_config_before"'
    done = subprocess.run(["bash", "-euc", told], capture_output=True, text=True, check=True)
    assert date.fromisoformat(done.stdout.strip()) <= datetime.now(UTC).date()


def test_pre_commit_runs_the_checks_of_ci_and_downloads_nothing(script: str, repository_root: Path) -> None:
    hooks = (repository_root / ".pre-commit-config.yaml").read_text()
    entries = [entry.removeprefix("env ") for entry in re.findall(r"^ +entry: (.*)$", hooks, re.MULTILINE)]
    checks = re.search(r"\n\n((?:.*\.venv/bin/(?:ruff|mypy|lint-imports).*\n)+)\n", script)
    assert checks is not None
    assert entries == checks[1].splitlines()
    assert set(re.findall(r"repo: (.*)", hooks)) == {"local"}
    assert set(re.findall(r"language: (.*)", hooks)) == {"system"}


def test_the_editor_wraps_where_ruff_does(repository_root: Path) -> None:
    asked = re.search(r"^max_line_length = (\d+)$", (repository_root / ".editorconfig").read_text(), re.M)
    allowed = re.search(r"^line-length = (\d+)$", (repository_root / ".ruff.toml").read_text(), re.M)
    assert asked is not None
    assert allowed is not None
    assert asked[1] == allowed[1]
