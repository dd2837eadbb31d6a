"""The pages for authors of plugins, and the files that they show, as they are printed there."""

import re
from pathlib import Path

from tests.support.manual import page, pages

_BLOCK = re.compile(r"^```(?:python|toml)\n# (?P<name>\S+\.(?:py|toml))\n(?P<text>.*?)^```$", re.M | re.S)


def guide() -> str:
    """Return all pages of the manual for authors of plugins, one after the other."""
    return "\n".join(page(name) for name in pages() if name.startswith("extend/"))


def write_example(package: str, test: str, folder: Path, *, text: str | None = None) -> None:
    """Write the files of a package of the guide (or of a text) and its test module into the folder."""
    for block in _BLOCK.finditer(guide() if text is None else text):
        name = block["name"]
        if name.startswith(f"{package}/") or name == f"tests/{test}.py":
            path = folder / name.removeprefix("tests/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["text"])


def write_project(package: str, folder: Path, *, text: str | None = None) -> Path:
    """Write a project of the guide as its author would have it: the package, and what builds it."""
    project = folder / package
    project.mkdir()
    write_example(package, "", project, text=text)
    for block in _BLOCK.finditer(guide() if text is None else text):
        if block["name"] in ("setup.py", "pyproject.toml") and f'"{package}"' in block["text"]:
            (project / block["name"]).write_text(block["text"])
    return project


def write_entry_point(package: str, folder: Path, *, version: str = "1.2") -> None:
    """Write what an installation of the package would leave beside it."""
    metadata = folder / f"{package}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[netautod]\n{package} = {package}\n")
