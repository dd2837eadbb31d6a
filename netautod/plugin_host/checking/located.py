"""The plugin at a path: a project, a package or a wheel, ready to be imported."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from netautod.testing.services.project import GROUP, EntryPoints, ProjectError, project_in, read_entry_points


@dataclass(kw_only=True)
class Located:
    """A located plugin. `plugins` are modules by the names of their entry points, imported from `path`."""

    name: str
    version: str | None = None
    path: Path
    plugins: Mapping[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def packages(self) -> list[str]:
        """Return the names of the packages in `path` that may be plugins."""
        found = (folder for folder in sorted(self.path.iterdir()) if (folder / "__init__.py").is_file())
        return [folder.name for folder in found if folder.name not in ("tests", "test")]


def locate(path: Path, scratch: Path) -> Located:
    """Find the project, package or wheel at a path. A wheel is unpacked into the folder `scratch`. Raises
    ProjectError for anything else.
    """
    if path.is_file():
        return _wheel(path, scratch)
    if not path.is_dir():
        raise ProjectError(f"{path}: there is no such file or folder")
    project = project_in(path)
    if project is not None:
        found = Located(name=project.name, version=project.version, path=project.path)
        return _with_plugins(found, project.entry_points, "the project")
    if (path / "__init__.py").is_file():
        name = path.absolute().name
        return Located(name=name, path=path.absolute().parent, plugins={name: name})
    raise ProjectError(
        f"{path}: no pyproject.toml, setup.py or setup.cfg (a project) and no __init__.py (a package)"
    )


def _wheel(path: Path, scratch: Path) -> Located:
    if path.suffix != ".whl":
        raise ProjectError(f"{path}: a plugin is a project, a package or a wheel (.whl)")
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(scratch)  # zipfile lets no name lead out of the folder
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise ProjectError(f"{path}: the wheel cannot be read: {error}") from error
    metadata = sorted(scratch.glob("*.dist-info"))
    if len(metadata) != 1:
        raise ProjectError(f"{path}: a wheel has one folder .dist-info, not {len(metadata)}")
    name, _, version = metadata[0].stem.partition("-")
    file = metadata[0] / "entry_points.txt"
    groups = read_entry_points(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return _with_plugins(Located(name=name, version=version, path=scratch), groups, "the wheel")


def _with_plugins(found: Located, groups: EntryPoints, what: str) -> Located:
    """Add the plugins. Without an entry point the only package is examined all the same: there may be more to
    report.
    """
    if groups.get(GROUP):
        found.plugins = groups[GROUP]
        return found
    sentence = f"{what} has no entry point in the group {GROUP}, so it is never loaded"
    near = [group for group in groups if GROUP in group.lower()] or get_close_matches(GROUP, groups)
    if near:
        sentence += f": its entry points are in the group {near[0]!r}"
    found.problems.append(sentence)
    packages = found.packages()
    if len(packages) == 1:
        found.plugins = {packages[0]: packages[0]}
    return found
