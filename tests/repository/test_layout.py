"""The layout: few folders at the root, none of them crowded, and short files for newcomers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.manual import ROOT

FOLDERS_AT_THE_ROOT = 20
SHOWN = 16  # modules and folders in one folder
LINES = {"README.md": 200, "plugins/README.md": 80}
PRODUCT = ROOT / "netautod"


def modules(folder: Path) -> list[str]:
    """Return the names of the modules of a folder, `__init__.py` left out."""
    return sorted(path.name for path in folder.glob("*.py") if path.name != "__init__.py")


def packages(folder: Path) -> list[Path]:
    """Return the folders in a folder that hold modules, not those of data or left by an install."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and any(path.rglob("*.py")))


def all_packages(folder: Path) -> list[Path]:
    """Return a folder of modules and all below it."""
    return [folder, *(found for one in packages(folder) for found in all_packages(one))]


def shown(folder: Path) -> Sequence[str]:
    """Return the names that a reader of a folder sees."""
    return [*modules(folder), *(path.name for path in packages(folder))]


def crowded(folders: Sequence[Path]) -> dict[str, int]:
    """Return the folders that show too much, each with how much it shows."""
    counts = {folder.as_posix(): len(shown(folder)) for folder in folders}
    return {name: count for name, count in counts.items() if count > SHOWN}


def test_the_root_has_few_folders_and_no_modules() -> None:
    assert len(packages(PRODUCT)) <= FOLDERS_AT_THE_ROOT
    assert modules(PRODUCT) == ["__main__.py"]


def test_no_folder_is_crowded() -> None:
    below = [folder for folder in all_packages(PRODUCT) if folder != PRODUCT]
    assert len(below) > FOLDERS_AT_THE_ROOT
    assert crowded(below) == {}


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        pytest.param([f"m{number}.py" for number in range(SHOWN)], False, id="as many modules as may be"),
        pytest.param([f"m{number}.py" for number in range(SHOWN + 1)], True, id="one module more"),
        pytest.param([f"f{number}/m.py" for number in range(SHOWN + 1)], True, id="folders"),
        pytest.param(["__init__.py", *(f"m{number}.py" for number in range(SHOWN))], False, id="the package"),
        pytest.param([f"f{number}/page.html" for number in range(SHOWN + 1)], False, id="data"),
        pytest.param([f"f{number}/__pycache__/m.pyc" for number in range(SHOWN + 1)], False, id="remains"),
    ],
)
def test_what_makes_a_folder_crowded(tmp_path: Path, names: list[str], counts: bool) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert (crowded([tmp_path]) != {}) == counts


@pytest.mark.parametrize("name", LINES)
def test_the_files_for_newcomers_are_short(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8").count("\n") <= LINES[name]
