"""Makes the package of a new plugin from the templates of its kind, with tests that pass."""

import keyword
import re
import sys
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

from netautod.core.errors import InvalidInput
from netautod.core.settings.field import SettingsError
from netautod.core.settings.table import Setting
from netautod.plugin_api import VERSION
from netautod.plugin_host.loading.loader import installed
from netautod.plugin_host.sections.declared import DeclaredSections

# What a plugin of each kind does, as its README begins.
KINDS = {
    "executor": "An executor for netautod: its tasks send a command to every device.",
    "source": "An inventory source for netautod: devices come from a list of another system.",
    "auth": "An auth provider for netautod: another system checks names and passwords.",
    "collector": "A collector for netautod: what devices print on their command line.",
    "platform": "A platform for netautod: how devices of a kind are backed up.",
}
_TEMPLATE = "my_plugin"  # stands in the templates, and in the names of their files
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST = 30
_RESERVED = frozenset({"conftest", "site", "src", "test", "tests"})


def scaffold(name: str, *, kind: str, directory: Path, core: Iterable[Setting]) -> Path:
    """Write a new project into the folder `directory/name` and return the folder.

    Raises InvalidInput, and writes nothing then. `core` are the settings of the service, whose names no
    plugin may have.

    The templates hold the name as a word, and a name is a plain identifier: no text of a user is code.
    """
    check_name(name, core)
    if kind not in KINDS:
        raise InvalidInput(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    if not directory.is_dir():
        raise InvalidInput(f"directory: {directory} is no folder")
    project = directory / name
    if project.exists() or project.is_symlink():
        raise InvalidInput(f"{project} is there already: nothing is overwritten")
    templates = files("netautod.plugin_host") / "templates"
    written = {
        path: _filled(text, name, kind)
        for part in ("common", kind)
        for path, text in _templates(templates / part)
    }
    for path, text in written.items():
        target = project / path.replace(_TEMPLATE, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return project


def check_name(name: str, core: Iterable[Setting]) -> None:
    """Raise InvalidInput for a name that cannot be a package, an entry point and a section of settings."""
    if not _NAME.fullmatch(name) or name.endswith("_") or "__" in name:
        raise InvalidInput(
            f"name: {name!r} is no name for a package: lower-case letters, digits and single _ between them, "
            "a letter first"
        )
    if len(name) > _LONGEST:
        raise InvalidInput(f"name: {name!r} has more than {_LONGEST} characters")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise InvalidInput(f"name: {name!r} is a word of Python")
    if name in sys.stdlib_module_names or name in _RESERVED:
        raise InvalidInput(f"name: {name!r} is a module of Python or of the tests")
    if name == "netautod" or name.startswith("netautod_"):
        raise InvalidInput(f"name: {name!r} is a name of netautod")
    _check_taken(name, core)


def _check_taken(name: str, core: Iterable[Setting]) -> None:
    if any(entry.name == name for entry in installed()):
        raise InvalidInput(f"name: the plugin {name} is installed already")
    if find_spec(name) is not None:
        raise InvalidInput(f"name: a module {name} is installed already")
    try:
        DeclaredSections(core).check_name(name)
    except SettingsError as error:
        raise InvalidInput(f"name: {error.text}") from error


def _templates(folder: Traversable, within: str = "") -> list[tuple[str, str]]:
    """Return the files by their paths in the project; templates have `.txt` behind their names."""
    found: list[tuple[str, str]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _templates(entry, f"{within}{entry.name}/")
        elif entry.name.endswith(".txt"):
            found.append((within + entry.name.removesuffix(".txt"), entry.read_text(encoding="utf-8")))
    return found


def _filled(text: str, name: str, kind: str) -> str:
    values = {
        "@API@": VERSION,
        "@WHAT@": KINDS[kind],
        _TEMPLATE: name,
        _TEMPLATE.replace("_", "-"): name.replace("_", "-"),
        _TEMPLATE.upper(): name.upper(),
    }
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text
