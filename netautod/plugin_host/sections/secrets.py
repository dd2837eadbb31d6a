"""The sections of plugins with the secrets that stand in the vault, and what of a section is secret."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from netautod.core.settings.field import Checked, SettingsError
from netautod.core.settings.table import rows_of
from netautod.core.work.plugin_calls import no_exit
from netautod.secrets.vault.errors import VaultError


class Secrets(Protocol):
    """The secrets of the vault; this module is loaded by the process that watches, which has no database."""

    async def values(self, names: set[str]) -> Mapping[str, str | VaultError]: ...


@dataclass(frozen=True, kw_only=True)
class FilledSections:
    """The sections with their secrets. `failures` are the plugins whose sections could not be filled, and
    why.
    """

    sections: Mapping[str, Any]
    failures: Mapping[str, Exception] = field(default_factory=dict)


async def filled(
    sections: Mapping[str, Any], in_vault: Mapping[str, str], secrets: Secrets
) -> FilledSections:
    """Fill in the secrets. `in_vault`: the names of secrets by the keys of the settings, `SECTION.NAME`.

    A section is checked anew with its secrets. One of a plugin that fails leaves the others as they are.
    """
    values = await secrets.values(set(in_vault.values()))
    made, failures = dict[str, Any](), dict[str, Exception]()
    for name, section in sections.items():
        wanted = {row.name: in_vault[row.key] for row in rows_of(name, type(section)) if row.key in in_vault}
        try:
            with no_exit():
                made[name] = _filled(name, section, wanted, values)
        except Exception as failure:  # noqa: BLE001  # the check of a plugin may fail in any way
            failures[name] = failure
    return FilledSections(sections=made, failures=failures)


def secrets_of(name: str, section: Any) -> Iterator[str]:
    """Yield the values of a section that must not be shown."""
    for row in rows_of(name, type(section)):
        if row.secret:
            value = getattr(section, row.name)
            yield from value if isinstance(value, tuple) else (str(value),)


def _filled(
    name: str, section: Any, wanted: Mapping[str, str], values: Mapping[str, str | VaultError]
) -> Any:
    if not wanted:
        return section
    found = dict[str, Any]()
    for key, secret in wanted.items():
        value = values.get(secret)
        if value is None:
            text = f"{name}.{key}: there is no secret {secret!r} in the vault (netautod secret set {secret})"
            raise SettingsError(text)
        if isinstance(value, VaultError):
            raise SettingsError(f"{name}.{key}: {value.text}")
        found[key] = _typed(section, key, value)
    made = replace(section, **found)
    if isinstance(made, Checked):
        made.check()
    return made


def _typed(section: Any, key: str, text: str) -> Any:
    if isinstance(getattr(section, key), tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text
