"""The description of a project before it is installed, and that it can be loaded by that."""

from importlib.metadata import distributions
from pathlib import Path

import pytest

from netautod.testing.services.project import (
    Project,
    ProjectError,
    is_installed,
    project_in,
    read_entry_points,
)

PYPROJECT = '[project]\nname = "acme-ask"\nversion = "1.2"\n'
ENTRY = '[project.entry-points.netautod]\nacme = "acme_ask"\n'
SETUP = "from setuptools import setup\nsetup(name='acme-ask', version='1.2', packages=['acme_ask'], "
SETUP += "entry_points={'netautod': ['acme = acme_ask']})\n"
CFG = "[metadata]\nname = acme-ask\nversion = 1.2\n[options]\npackages = acme_ask\n"
CFG += "[options.entry_points]\nnetautod =\n    acme = acme_ask\n"
DYNAMIC = PYPROJECT + 'dynamic = ["entry-points"]\n'


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    (folder / "acme_ask").mkdir()
    (folder / "acme_ask" / "__init__.py").touch()
    return folder


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"pyproject_toml": PYPROJECT + ENTRY}, id="pyproject.toml"),
        pytest.param({"setup_py": SETUP}, id="setup.py"),
        pytest.param({"setup_cfg": CFG}, id="setup.cfg"),
        pytest.param({"pyproject_toml": "[build-system]\nrequires = []\n", "setup_py": SETUP}, id="both"),
        pytest.param({"pyproject_toml": DYNAMIC, "setup_py": SETUP}, id="left to setup.py"),
    ],
)
def test_the_entry_points_of_a_project(files: dict[str, str], tmp_path: Path) -> None:
    found = project_in(written(tmp_path, **files))
    assert found is not None
    assert (found.name, found.version, found.path) == ("acme-ask", "1.2", tmp_path)
    assert found.plugins == {"acme": "acme_ask"}
    assert not is_installed(found)


def test_no_project(tmp_path: Path) -> None:
    assert project_in(tmp_path) is None


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param({"pyproject_toml": "[project\n"}, "pyproject.toml: ", id="no TOML"),
        pytest.param({"pyproject_toml": PYPROJECT + 'entry-points = ["a"]\n'}, "is a table", id="no table"),
        pytest.param({"setup_py": "raise ValueError('no')\n"}, "setup.py: ValueError: no", id="a failure"),
    ],
)
def test_a_project_that_cannot_be_read(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=message):
        project_in(written(tmp_path, **files))


def test_the_metadata_is_that_of_an_installation(tmp_path: Path) -> None:
    made = Project(
        name="acme-ask.x", version="1.2", path=tmp_path, entry_points={"netautod": {"acme": "acme_ask"}}
    )
    made.write_metadata(tmp_path / "installed")
    [found] = distributions(path=[str(tmp_path / "installed")])
    assert (found.name, found.version) == ("acme-ask.x", "1.2")
    assert [(entry.group, entry.name, entry.value) for entry in found.entry_points] == [
        ("netautod", "acme", "acme_ask")
    ]


def test_a_file_of_entry_points() -> None:
    assert read_entry_points("[netautod]\nAcme = a:b [x]\n") == {"netautod": {"Acme": "a:b [x]"}}
    with pytest.raises(ProjectError, match=r"entry_points\.txt"):
        read_entry_points("acme = acme\n")
