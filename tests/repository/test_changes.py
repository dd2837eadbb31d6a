"""The page of the changes: its form, and the table of the names of loggers."""

import re

import pytest

from netautod import __version__
from tests.support.manual import ROOT, page, section

CHANGES = page("changes.md")
VERSIONS = re.findall(r"^## (.+)$", CHANGES, re.M)
KINDS = ["Added", "Changed", "Fixed", "Removed"]
LONGEST = 120  # characters of a line
_ROW = re.compile(r"^\| `(netautod[\w.]*)`.* \| `(netautod[\w.]*)` \|$", re.M)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_has_its_changes_by_kind(version: str) -> None:
    kinds = re.findall(r"^### (.+)$", section(CHANGES, version), re.M)
    assert kinds == [kind for kind in KINDS if kind in kinds]
    assert kinds


def test_the_newest_version_is_that_of_the_program() -> None:
    assert VERSIONS[0] == __version__
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in VERSIONS)


def test_a_change_is_short() -> None:
    changes = re.findall(r"^\* (?:.+\n  )*.+$", CHANGES, re.M)
    assert len(changes) > 100
    assert [change for change in changes if change.count("\n") > 2] == []
    assert [line for line in CHANGES.splitlines() if len(line) > LONGEST] == []


def test_every_new_name_of_a_logger_is_a_module_or_a_folder() -> None:
    rows = _ROW.findall(CHANGES)
    assert len(rows) > 30
    paths = {new: ROOT / new.replace(".", "/") for _, new in rows}
    there = [path.is_dir() or path.with_suffix(".py").is_file() for path in paths.values()]
    assert [new for new, is_there in zip(paths, there, strict=True) if not is_there] == []
