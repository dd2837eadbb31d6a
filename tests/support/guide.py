"""The guide for plugin authors: the files that it shows, as they are printed there."""

import re
from pathlib import Path

_BLOCK = re.compile(r"^```(?:python|toml)\n# (?P<name>\S+\.(?:py|toml))\n(?P<text>.*?)^```$", re.M | re.S)


def write_example(guide: str, package: str, test: str, folder: Path) -> None:
    """The files of a package of the guide into the folder, and its test module beside them."""
    for block in _BLOCK.finditer(guide):
        name = block["name"]
        if name.startswith(f"{package}/") or name == f"tests/{test}.py":
            path = folder / name.removeprefix("tests/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["text"])


def write_project(guide: str, package: str, folder: Path) -> Path:
    """A project of the guide as its author would have it: the package, and what builds it."""
    project = folder / package
    project.mkdir()
    write_example(guide, package, "", project)
    for block in _BLOCK.finditer(guide):
        if block["name"] in ("setup.py", "pyproject.toml") and f'"{package}"' in block["text"]:
            (project / block["name"]).write_text(block["text"])
    return project


def write_entry_point(package: str, folder: Path, *, version: str = "1.2") -> None:
    """What an installation of the package would leave beside it."""
    metadata = folder / f"{package}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[netautod]\n{package} = {package}\n")
