"""What CI says of known vulnerabilities: a file that rots must not look like a network that is away."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

VERDICT = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "audit"))["verdict"]
GOOD: dict[str, Any] = {"name": "tornado", "version": "6.5.5", "vulns": []}
BAD = {**GOOD, "vulns": [{"id": "GHSA-1", "fix_versions": ["6.6"]}]}
SKIPPED = {"name": "netmiko", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("packages", "line", "code"),
    [
        pytest.param([GOOD, GOOD], "2 packages checked, 0 NOT CHECKED, 0 vulnerable", 0, id="clean"),
        pytest.param([GOOD, BAD], "2 packages checked, 0 NOT CHECKED, 1 vulnerable", 1, id="vulnerable"),
        pytest.param([GOOD, SKIPPED], "1 packages checked, 1 NOT CHECKED, 0 vulnerable", 0, id="one skipped"),
        pytest.param(
            [SKIPPED], "NOT CHECKED, none of 1 packages: Dependency not found on PyPI", 0, id="all skipped"
        ),
        pytest.param([], "NOT CHECKED, none of 0 packages: nothing is listed", 1, id="an empty file"),
    ],
)
def test_what_was_found(packages: list[dict[str, Any]], line: str, code: int) -> None:
    lines, ended = VERDICT(json.dumps({"dependencies": packages}), "")
    assert (lines[0], ended) == (f"pip-audit: {line}", code)


@pytest.mark.parametrize(
    "complaint",
    [
        "ERROR:pip_audit._cli:HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded",
        "pip_audit._service.interface.ConnectionError: Could not connect to PyPI's vulnerability feed",
        "ERROR: No matching distribution found for pip-audit",
        "timed out: Command '['pip-audit']' timed out after 90 seconds",
    ],
)
def test_a_network_that_is_away_fails_no_build(complaint: str) -> None:
    lines, code = VERDICT("", complaint)
    assert "NOT CHECKED, the advisory service is out of reach" in lines[0]
    assert code == 0


@pytest.mark.parametrize(
    "complaint",
    [
        "ERROR:pip_audit._cli:invalid requirement input(s): constraints.txt",
        "error: argument -r: can't open 'constraints.txt': [Errno 2] No such file or directory",
        "",
    ],
)
def test_a_list_that_cannot_be_read_does(complaint: str) -> None:
    lines, code = VERDICT("", complaint)
    assert (lines[0], code) == ("pip-audit failed:", 1)
