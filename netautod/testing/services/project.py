"""The description of a plugin's project before it is installed: its entry points, where its code is."""

import configparser
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

GROUP = "netautod"
EntryPoints = Mapping[str, Mapping[str, str]]  # values by group and name
_SETUP_SECONDS = 120.0


class ProjectError(Exception):
    """A project that cannot be read; a sentence for its author."""


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project. `name` and `version` are the distribution's; its packages are imported from the folder
    `path`.
    """

    name: str
    version: str
    path: Path
    entry_points: EntryPoints

    @property
    def plugins(self) -> Mapping[str, str]:
        """The modules that are plugins, by the names of their entry points."""
        return self.entry_points.get(GROUP, {})

    def write_metadata(self, folder: Path) -> None:
        """Write into the folder what an installation would, so that the entry points are found there."""
        metadata = folder / f"{re.sub(r'[^A-Za-z0-9.]+', '_', self.name)}-{self.version}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n", encoding="utf-8"
        )
        lines: list[str] = []
        for group, values in self.entry_points.items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in values.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def project_in(folder: Path) -> Project | None:
    """Read the project from `pyproject.toml`, or else `setup.py` or `setup.cfg`, of the folder; None without
    any.

    A `setup.py` is run. Raises ProjectError.
    """
    source = folder / "src" if (folder / "src").is_dir() else folder
    found = _of_pyproject(folder / "pyproject.toml", source)
    if found is not None:
        return found
    if (folder / "setup.py").is_file() or (folder / "setup.cfg").is_file():
        return _of_setup(folder, source)
    return None


def is_installed(project: Project) -> bool:
    """Return whether this environment has the project's plugins already."""
    installed = {entry.name for entry in entry_points(group=GROUP)}
    return set(project.plugins) <= installed


def read_entry_points(text: str) -> EntryPoints:
    """Return the entry points of an `entry_points.txt`. Raises ProjectError."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ProjectError(f"entry_points.txt: {_line(error)}") from error
    return {group: dict(parser.items(group)) for group in parser.sections()}


def _of_pyproject(file: Path, source: Path) -> Project | None:
    """Return the project; None if there is no file, or if it leaves the project to a `setup.py`."""
    if not file.is_file():
        return None
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"pyproject.toml: {error}") from error
    project = document.get("project")
    if not isinstance(project, dict):
        return None
    groups = project.get("entry-points", {})
    dynamic = project.get("dynamic", [])
    if not groups and isinstance(dynamic, list) and "entry-points" in dynamic:
        return None
    if not isinstance(groups, dict) or not all(isinstance(group, dict) for group in groups.values()):
        raise ProjectError("pyproject.toml: [project.entry-points.netautod] is a table of names and modules")
    return Project(
        name=str(project.get("name", file.parent.name)),
        version=str(project.get("version", "0")),
        path=source,
        entry_points={
            str(group): {str(name): str(value) for name, value in values.items()}
            for group, values in groups.items()
        },
    )


def _of_setup(folder: Path, source: Path) -> Project:
    """Return the project as setuptools reads it, in a process of its own."""
    with tempfile.TemporaryDirectory() as made:
        script = "import setuptools, sys; sys.argv = ['setup.py', *sys.argv[1:]]; "
        script += (
            "exec(compile(open('setup.py').read(), 'setup.py', 'exec'), {'__name__': '__main__', "
            "'__file__': 'setup.py'})"
            if (folder / "setup.py").is_file()
            else "setuptools.setup()"
        )
        command = [sys.executable, "-c", script, "-q", "egg_info", "--egg-base", made]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SETUP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ProjectError("setup.py did not end in time") from error
        if done.returncode != 0:
            raise ProjectError(f"setup.py: {_last(done.stderr.splitlines())}")
        return _of_egg_info(next(Path(made).glob("*.egg-info")), source)


def _of_egg_info(metadata: Path, source: Path) -> Project:
    headers = dict(
        line.split(": ", 1)
        for line in (metadata / "PKG-INFO").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
        if ": " in line
    )
    file = metadata / "entry_points.txt"
    return Project(
        name=headers["Name"],
        version=headers["Version"],
        path=source,
        entry_points=read_entry_points(file.read_text(encoding="utf-8")) if file.is_file() else {},
    )


def _last(lines: Iterable[str]) -> str:
    return next((line.strip() for line in reversed(list(lines)) if line.strip()), "it failed without a word")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
