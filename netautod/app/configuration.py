"""Reads the settings of the service and loads its plugins, which declare sections of their own."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from netautod.app.plugins.loading import LoadedPlugins, installed, one_line
from netautod.app.risks import check_accepted, risks_of
from netautod.app.settings import RENAMED, Settings, read_settings
from netautod.core.settings.field import SettingsError
from netautod.core.settings.reader import Reader
from netautod.core.settings.risks import FoundRisks


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What a command begins with. `plugins` are those whose sections the settings hold, `risks` what these
    settings risk: only `serve` refuses to run with some of them.
    """

    settings: Settings
    plugins: LoadedPlugins
    risks: FoundRisks = field(default_factory=FoundRisks)


def load(
    *,
    file: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None],
    found: Callable[[], Iterable[EntryPoint]] = installed,
) -> Configuration:
    """Settings from the file, over them the environment, over them the flags (`section.name` -> value).

    Raises SettingsError with one line that names the key. An unknown variable is only a warning, and so
    is the section of a plugin that cannot be loaded; that of a disabled one is not looked at.
    """
    reader = Reader(file=file, environment=environment, flags=flags, renamed=RENAMED)
    reader.warn_of_old_names(warn)
    settings = read_settings(reader)
    plugins = LoadedPlugins.load(disabled=settings.plugins.disabled, found=found)
    sections = {name: _section(reader, name, declared) for name, declared in plugins.sections.items()}
    broken = plugins.broken - set(sections)
    for name in sorted(broken):
        if reader.has(name):
            warn(f"{file}: the section {name} is ignored: the plugin cannot be loaded")
    unread = {*settings.plugins.disabled, *broken}
    reader.refuse_unknown(without=unread)
    reader.warn_of_variables(warn, without=unread)
    settings = replace(settings, of_plugins=sections)
    check_accepted(settings, unknown_may_be=bool(unread), warn=warn)
    try:
        risks = risks_of(
            settings,
            plugins.sections,
            file=file,
            secrets_in_file=reader.secrets_in_file,
            credentials=environment.get("CREDENTIALS_DIRECTORY"),
        )
    except Exception as failure:  # what a plugin says of its section may fail in any way
        raise SettingsError(f"the risks of the settings cannot be told: {one_line(failure)}") from failure
    return Configuration(settings=settings, plugins=plugins, risks=risks)


def _section(reader: Reader, name: str, declared: type[Any]) -> Any:
    try:
        return reader.section(name, declared)
    except SettingsError:
        raise
    except Exception as failure:  # the check of a plugin may fail in any way
        raise SettingsError(f"the section {name} cannot be checked: {one_line(failure)}") from failure
