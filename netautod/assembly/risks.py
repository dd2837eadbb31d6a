"""The table of all risks: those that the sections declare, and that of files which others may read."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from netautod.assembly.settings import Settings
from netautod.core.settings.field import SettingsError
from netautod.core.settings.risks import FoundRisks, RiskRule, judged, rules_of
from netautod.core.settings.table import rows_of
from netautod.secrets.vault.root.key_file import FILE_NAME

GROUP_AND_OTHERS, OTHERS = 0o077, 0o007


@dataclass(frozen=True, kw_only=True)
class SecretFile:
    """A file with secrets; `closed_to` are the mode bits that it should not have."""

    path: Path
    closed_to: int

    @property
    def is_open(self) -> bool:
        try:
            return bool(self.path.stat().st_mode & self.closed_to)
        except OSError:  # its reader reports that it cannot be read
            return False


KEY_FILE_READABLE: RiskRule[Collection[SecretFile]] = RiskRule(
    name="key-file-readable",
    cause="others may read the master key, `server.tls_key`, or a settings file that holds secrets (which a "
    "group may read)",
    text="other users of this machine can read secrets; chmod 600",
    found=lambda files: [str(file.path) for file in files if file.is_open],
)
SECRET_IN_FILE: RiskRule[Collection[str]] = RiskRule(
    name="secret-in-settings-file",
    cause="a secret of a plugin stands in the settings file itself",
    text="secrets of plugins stand in clear in the settings file and its copies; NAME_file, a credential of "
    "systemd's or the vault hold them better",
    found=list,
)


def find_risks(
    settings: Settings,
    declared: Mapping[str, type[Any]],
    *,
    file: Path | None,
    secrets_in_file: Collection[str],
    secret_files: Collection[Path] = (),
    credentials: str | None = None,
) -> FoundRisks:
    """Return the risks of the settings and of their files.

    `declared` are the sections of plugins, `secrets_in_file` the keys of the secrets in the file itself,
    `secret_files` the files of single secrets, `credentials` the folder of systemd's credentials.
    """
    files = list(_key_files(settings, declared, credentials))
    if file is not None and secrets_in_file:
        # A group may read it: packages give it to root and to the group of the service.
        files.append(SecretFile(path=file, closed_to=OTHERS))
    files += [SecretFile(path=path, closed_to=_closed_to(path, credentials)) for path in secret_files]
    of_plugins = [key for key in secrets_in_file if key.rpartition(".")[0] in declared]
    sections = [*_core_sections(settings).values(), *settings.of_plugins.values()]
    rules = [(rule, section) for section in sections for rule in rules_of(section)]
    found = [*rules, (KEY_FILE_READABLE, files), (SECRET_IN_FILE, of_plugins)]
    return judged(found, settings.accept_risks)


def rules(settings: Settings) -> list[RiskRule[Any]]:
    """Return every rule, each name once."""
    sections = [*_core_sections(settings).values(), *settings.of_plugins.values()]
    found = {rule.name: rule for section in sections for rule in rules_of(section)}
    return [*found.values(), KEY_FILE_READABLE, SECRET_IN_FILE]


def check_accepted(settings: Settings, *, unknown_may_be: bool, warn: Callable[[str], None]) -> None:
    """Raise SettingsError for an accepted name that no risk has.

    Where plugins are left out (`unknown_may_be`) it is a warning only, for one of them may have the risk.
    """
    known = {rule.name for rule in rules(settings)}
    for name in settings.accept_risks:
        if name not in known and not unknown_may_be:
            listed = ", ".join(sorted(known))
            raise SettingsError(f"accept_risks: there is no risk {name!r}; there are {listed}")
        if name not in known:
            warn(f"accept_risks: there is no risk {name!r}, unless a plugin that is left out has it")


def _core_sections(settings: Settings) -> Mapping[str, Any]:
    found = {entry.name: getattr(settings, entry.name) for entry in fields(settings)}
    return {name: value for name, value in found.items() if is_dataclass(value)}


def _key_files(
    settings: Settings, declared: Mapping[str, type[Any]], credentials: str | None
) -> Iterator[SecretFile]:
    sections = {"": settings, **_core_sections(settings), **settings.of_plugins}
    for name, section in sections.items():
        for row in rows_of(name, declared.get(name, type(section))):
            path = getattr(section, row.name) if row.key_file else ""
            if path:
                yield SecretFile(path=Path(path), closed_to=_closed_to(Path(path), credentials))
    if not settings.master_key_file:
        yield SecretFile(path=settings.data_dir / FILE_NAME, closed_to=GROUP_AND_OTHERS)


def _closed_to(path: Path, credentials: str | None) -> int:
    # systemd grants access by an ACL, whose mask shows as group bits (systemd.exec(5)).
    granted = bool(credentials) and path.is_relative_to(str(credentials))
    return OTHERS if granted else GROUP_AND_OTHERS
