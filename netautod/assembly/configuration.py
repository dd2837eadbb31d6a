"""Reads the settings of the service and loads its plugins, which declare sections of their own."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from netautod.assembly.risks import check_accepted, find_risks
from netautod.assembly.settings import RENAMED, Settings, read_settings, table
from netautod.core.settings.field import SettingsError
from netautod.core.settings.reader import DEFAULT, Reader
from netautod.core.settings.risks import FoundRisks, judged, rules_of
from netautod.core.work.plugin_calls import no_exit
from netautod.plugin_host.loading.loader import LoadedPlugins, installed, one_line


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """The settings, plugins and risks that a command begins with.

    `plugins` are those whose sections the settings hold. `risks` are the risks of these settings: only
    `serve` refuses to run with some of them. `in_vault` are the names in the vault, by key, of the secrets of
    plugins that are still to be filled in. `origins` tells where each setting of a plugin comes from.
    `failures` are the plugins that are left out because their own code failed at their sections.
    """

    settings: Settings
    plugins: LoadedPlugins
    risks: FoundRisks = field(default_factory=FoundRisks)
    in_vault: Mapping[str, str] = field(default_factory=dict)
    origins: Callable[[str], str] = lambda key: DEFAULT
    failures: Mapping[str, str] = field(default_factory=dict)


def load(
    *,
    file: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None],
    found: Callable[[], Iterable[EntryPoint]] = installed,
) -> Configuration:
    """Read the settings from the file, over them the environment, over them the flags (`section.name` ->
    value).

    Raises SettingsError with one line that names the key. An unknown variable is only a warning, and so is
    the section of a plugin that cannot be loaded. The section of a disabled plugin is not read.
    """
    reader = Reader(file=file, environment=environment, flags=flags, renamed=RENAMED)
    reader.warn_of_old_names(warn)
    settings = read_settings(reader)
    plugins = LoadedPlugins.load(table(), disabled=settings.plugins.disabled, found=found)
    sections, failures = _sections(reader, plugins, warn)
    broken = plugins.broken - set(sections)
    for name in sorted(broken - set(failures)):
        if reader.has(name):
            warn(f"{file}: the section {name} is ignored: the plugin cannot be loaded")
    unread = {*settings.plugins.disabled, *broken}
    reader.refuse_unknown(without=unread)
    reader.warn_of_variables(warn, without=unread)
    _refuse_in_vault(reader, sections)
    settings = replace(settings, of_plugins=sections)
    check_accepted(settings, unknown_may_be=bool(unread), warn=warn)
    risks = find_risks(
        settings,
        plugins.sections,
        file=file,
        secrets_in_file=reader.secrets_in_file,
        secret_files=reader.secret_files,
        credentials=environment.get("CREDENTIALS_DIRECTORY"),
    )
    return Configuration(
        settings=settings,
        plugins=plugins,
        risks=risks,
        in_vault=reader.in_vault,
        origins=reader.origin,
        failures=failures,
    )


def _sections(
    reader: Reader, plugins: LoadedPlugins, warn: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the sections by plugin, and the plugins that are left out because their own code fails at
    theirs.

    Raises SettingsError for a mistake of the administrator.
    """
    made, failures = dict[str, Any](), dict[str, str]()
    for name, declared in dict(plugins.sections).items():
        try:
            with no_exit():
                section = reader.section(name, declared)
                judged([(rule, section) for rule in rules_of(section)], ())
            made[name] = section
        except SettingsError:
            raise
        except Exception as failure:  # noqa: BLE001  # its check and its risks are a plugin's, and may fail in any way
            failures[name] = f"the section {name} cannot be checked: {one_line(failure)}"
            warn(f"{failures[name]}; the plugin is left out")
            plugins.leave_out(name, failure)
    return made, failures


def _refuse_in_vault(reader: Reader, sections: Collection[str]) -> None:
    for key in reader.in_vault:
        if key.rpartition(".")[0] not in sections:
            raise SettingsError(
                f"{key}: only secrets of plugins can be in the vault, which is opened after this is needed"
            )
