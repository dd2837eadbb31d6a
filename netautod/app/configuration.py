"""Reads the settings of the service, then those of its plugins: which there are, the first ones say."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from netautod.app.plugins.manager import PluginManager, installed, one_line
from netautod.app.settings import Settings, read_settings
from netautod.core.settings.field import SettingsError
from netautod.core.settings.reader import Reader


def load(
    *,
    file: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None],
    found: Callable[[], Iterable[EntryPoint]] = installed,
) -> Settings:
    """Settings from the file, over them the environment, over them the flags (`section.name` -> value).

    Raises SettingsError with one line that names the key. An unknown variable is only a warning, and so
    is the section of a plugin that cannot be loaded; that of a disabled one is not looked at.
    """
    reader = Reader(file=file, environment=environment, flags=flags)
    settings = read_settings(reader)
    # The service loads the plugins again, and then tells why one cannot be: here nothing is logged yet.
    plugins = PluginManager.load(disabled=settings.plugins.disabled, found=found, quiet=True)
    sections = {name: _section(reader, name, declared) for name, declared in plugins.sections.items()}
    broken = plugins.broken - set(sections)
    for name in sorted(broken):
        if reader.has(name):
            warn(f"{file}: the section {name} is ignored: the plugin cannot be loaded")
    unread = {*settings.plugins.disabled, *broken}
    reader.refuse_unknown(without=unread)
    reader.warn_of_variables(warn, without=unread)
    return replace(settings, of_plugins=sections)


def _section(reader: Reader, name: str, declared: type[Any]) -> Any:
    try:
        return reader.section(name, declared)
    except SettingsError:
        raise
    except Exception as failure:  # the check of a plugin may fail in any way
        raise SettingsError(f"the section {name} cannot be checked: {one_line(failure)}") from failure
