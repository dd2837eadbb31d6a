"""The one table of settings: sections as frozen dataclasses (settings_reader.py reads them).

Every field carries its help text; `config/netautod.toml` lists them all and a test compares it with this
table. Durations are in the unit that the name or the help text gives.
"""

import os
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from netautod.auth.settings import AuthSettings, LdapSettings, LicenseSettings, OidcSettings, SshCaSettings
from netautod.configs.settings import BackupSettings, ConfigSettings
from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.retention import RetentionSettings
from netautod.core.settings.webhook import WebhookSettings
from netautod.devices.settings import DeviceSettings
from netautod.docs.settings import DocsSettings, NotesVaultSettings
from netautod.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.http.settings import LimitSettings, ServerSettings
from netautod.inventory.settings import InventorySettings
from netautod.outbound.settings import OutboundSettings
from netautod.store.settings import MongoDBSettings

__all__ = ["Setting", "Settings", "SettingsError", "setting", "table"]

ENVIRONMENT_PREFIX = "NETAUTOD_"


def _default_data_dir() -> Path:
    state = os.environ.get("STATE_DIRECTORY")  # systemd's StateDirectory=
    if state:
        return Path(state.split(":", 1)[0])
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "netautod"


@dataclass(frozen=True, kw_only=True)
class PluginsSettings:
    required: tuple[str, ...] = setting((), "Plugins without which the service does not start.")
    disabled: tuple[str, ...] = setting((), "Plugins that are not loaded.")


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    level: str = setting("info", "debug, info, warning or error.")
    format: str = setting("text", "text or json.")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All sections; the fields of plain type are the settings without a section."""

    data_dir: Path = field(
        default_factory=_default_data_dir, metadata={"help": "Folder of everything the service keeps."}
    )
    master_key_file: str = setting("", "File with the 32-byte root key; empty: made beside the data.")
    admin_password: str = field(
        default="", repr=False, metadata={"help": "First password of the user admin (first start only)."}
    )
    server: ServerSettings = field(default_factory=ServerSettings)
    mongodb: MongoDBSettings = field(default_factory=MongoDBSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    ldap: LdapSettings = field(default_factory=LdapSettings)
    oidc: OidcSettings = field(default_factory=OidcSettings)
    ssh_ca: SshCaSettings = field(default_factory=SshCaSettings)
    license: LicenseSettings = field(default_factory=LicenseSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    executions: ExecutionSettings = field(default_factory=ExecutionSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    devices: DeviceSettings = field(default_factory=DeviceSettings)
    configs: ConfigSettings = field(default_factory=ConfigSettings)
    backups: BackupSettings = field(default_factory=BackupSettings)
    inventory: InventorySettings = field(default_factory=InventorySettings)
    outbound: OutboundSettings = field(default_factory=OutboundSettings)
    plugins: PluginsSettings = field(default_factory=PluginsSettings)
    log: LogSettings = field(default_factory=LogSettings)
    vault: NotesVaultSettings = field(default_factory=NotesVaultSettings)
    docs: DocsSettings = field(default_factory=DocsSettings)
    webhook: WebhookSettings = field(default_factory=WebhookSettings)

    @property
    def master_key_path(self) -> Path | None:
        return Path(self.master_key_file) if self.master_key_file else None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of the table; `section` is empty for those without one."""

    section: str
    name: str
    type: Any
    default: Any
    help: str
    low: float | None
    high: float | None

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def variable(self) -> str:
        return ENVIRONMENT_PREFIX + self.key.replace(".", "_").upper()


def table() -> Iterator[Setting]:
    """Every setting there is, in the order of the file."""
    hints = typing.get_type_hints(Settings)
    for entry in fields(Settings):
        section = hints[entry.name]
        if isinstance(section, type) and hasattr(section, "__dataclass_fields__"):
            section_hints = typing.get_type_hints(section)
            for row in fields(section):
                yield _row(entry.name, row, section_hints[row.name])
        else:
            yield _row("", entry, section)


def _row(section: str, entry: Field[Any], kind: Any) -> Setting:
    factory = entry.default_factory
    default = entry.default if factory is MISSING else factory()
    meta: Mapping[str, Any] = entry.metadata
    return Setting(
        section=section,
        name=entry.name,
        type=kind,
        default=default,
        help=meta["help"],
        low=meta.get("low"),
        high=meta.get("high"),
    )
