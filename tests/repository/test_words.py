"""The words that the style page asks for: in names, docstrings, files of tests and subjects of commits."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.repository.words import (
    FORBIDDEN,
    PRODUCT,
    ROOT,
    bad_docstrings,
    bad_names,
    findings,
    parts,
    subject_fault,
)

HERE = Path(__file__).relative_to(ROOT)


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints; none in a source archive, or where git is not installed."""
    if shutil.which("git") is None:
        return []
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def subjects_since(file: Path) -> list[str]:
    """Return the subjects of the commits after the one that added a file."""
    added = git("log", "--no-merges", "--diff-filter=A", "--format=%H", "--", str(file))
    return git("log", "--no-merges", "--format=%s", f"{added[0]}..HEAD") if added else []


@pytest.mark.parametrize("place", PRODUCT, ids=lambda place: place.name)
def test_the_product_has_only_plain_names_and_docstrings(place: Path) -> None:
    """Look at all modules. `python -m tests.repository.words PATH` does so for one file or folder."""
    assert findings([place]) == []


def test_subjects_of_commits_name_an_area_and_a_change() -> None:
    faults = {subject: subject_fault(subject) for subject in subjects_since(HERE)}
    assert {subject: fault for subject, fault in faults.items() if fault is not None} == {}


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        pytest.param("executions: retry only failed devices", None, id="right"),
        pytest.param("inventory, sites: word docstrings plainly", None, id="two areas"),
        pytest.param("plugin API: say when hooks are called", None, id="an area of two words"),
        pytest.param(".ci: install curl", None, id="a folder with a dot"),
        pytest.param(f"core: add {'x' * 62}", None, id="as long as may be"),
        pytest.param(f"core: add {'x' * 63}", "longer than 72 characters", id="too long"),
        pytest.param("Retry only failed devices", "not of the form `area: verb object`", id="no area"),
        pytest.param("core: Retry devices", "not of the form `area: verb object`", id="a capital"),
        pytest.param("core: cleanup", "not of the form `area: verb object`", id="no object"),
        pytest.param("core:retry devices", "not of the form `area: verb object`", id="no blank"),
        pytest.param("core: the devices are retried", "`the` is no verb", id="a state"),
        pytest.param("core: whether devices are retried", "`whether` is no verb", id="a clause"),
        pytest.param("core: retry devices.", "it ends with a full stop", id="a full stop"),
    ],
)
def test_a_subject(subject: str, fault: str | None) -> None:
    assert subject_fault(subject) == fault


def test_files_of_tests_have_no_forbidden_word() -> None:
    paths = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py")]
    assert HERE in paths
    assert [path.as_posix() for path in paths if parts(path.stem) & FORBIDDEN] == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        pytest.param("def told() -> None: ...", "told", id="a function"),
        pytest.param("class OwedEvents: ...", "OwedEvents", id="a class"),
        pytest.param("event_asked = 1", "event_asked", id="a variable"),
        pytest.param("from netautod.http import telling", "telling", id="a module"),
        pytest.param("call(whoever=1)", "whoever", id="an argument"),
    ],
)
def test_a_forbidden_name_is_found(source: str, name: str) -> None:
    assert list(bad_names(Path("core/clock.py"), source)) == [f"core/clock.py:1: {name}"]


@pytest.mark.parametrize("source", ['text = "told"', "# told", "retold = 1", "asked_pause = 1"])
def test_other_texts_are_no_names(source: str) -> None:
    assert list(bad_names(Path("core/clock.py"), source)) == []


def test_the_name_of_a_file_is_checked() -> None:
    assert list(bad_names(Path("http/told.py"), "")) == ["http/told.py: the file's name"]


@pytest.mark.parametrize(
    ("source", "is_good"),
    [
        pytest.param('def f():\n    """Return the page."""', True, id="an imperative"),
        pytest.param('def f():\n    """Those of the page."""', False, id="a genitive"),
        pytest.param('def f():\n    """Returns the page."""', False, id="no imperative"),
        pytest.param('def f():\n    """A page."""', False, id="a function as a noun"),
        pytest.param('@property\ndef f(self):\n    """The page."""', True, id="a property as a noun"),
        pytest.param('class C:\n    """A page."""', True, id="a class"),
        pytest.param('class C:\n    """Holds a page."""', False, id="a class as a verb"),
        pytest.param('"""The pages of the API."""', True, id="a module"),
        pytest.param('"""What the API answers."""', False, id="a module as a clause"),
    ],
)
def test_the_opening_of_a_docstring(source: str, is_good: bool) -> None:
    assert (list(bad_docstrings(Path("core/clock.py"), source)) == []) == is_good
