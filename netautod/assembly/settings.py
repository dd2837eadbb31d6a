"""The settings of the service: the sections of its resources in one value.

Every field carries its help text; `config/netautod.toml` lists them all, then those of the plugins that
come with netautod. Durations are in the unit that the name or the help text gives.
"""

import os
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from netautod.activity.events.settings import EventSettings
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.console.settings import ConsoleSettings
from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.metrics import MetricsSettings
from netautod.core.settings.reader import Reader
from netautod.core.settings.retention import RetentionSettings
from netautod.core.settings.table import Setting, rows_of
from netautod.core.settings.telemetry import TelemetrySettings
from netautod.documents.settings import DocsSettings, NotesVaultSettings
from netautod.http.settings import LimitSettings, ServerSettings
from netautod.identity.auth.settings import AuthSettings, LicenseSettings, SshCaSettings
from netautod.network.configs.settings import BackupSettings, ConfigSettings
from netautod.network.devices.settings import DeviceSettings
from netautod.network.discovery.polling.settings import PollingSettings
from netautod.network.inventory.settings import InventorySettings
from netautod.store.settings import DataSettings, MongoDBSettings
from netautod.transport.outbound.settings import OutboundSettings

# Older names that files of administrators may still have, and those of today.
RENAMED = {"server.max_connections": "limits.connections"}


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
    storage_records: int = setting(
        10_000, "Records that a plugin may store for one organization.", low=0, high=1_000_000
    )
    storage_mb: int = setting(64, "MiB of all records of a plugin for one organization.", low=1, high=10_240)
    storage_value_kb: int = setting(256, "KiB of one record of a plugin.", low=1, high=1024)


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    level: str = setting("info", "debug, info, warning or error.")
    format: str = setting("text", "text or json.")

    def check(self) -> None:
        if self.level not in ("debug", "info", "warning", "error"):
            raise SettingsError("log.level must be debug, info, warning or error")
        if self.format not in ("text", "json"):
            raise SettingsError("log.format must be text or json")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The fields of plain type are the settings without a section.

    `of_plugins` are the sections of plugins by name; one that is not there has its defaults.
    """

    data_dir: Path = field(
        default_factory=_default_data_dir, metadata={"help": "Folder of everything the service keeps."}
    )
    master_key_file: str = setting(
        "", "File with the 32-byte root key; empty: made beside the data.", key_file=True
    )
    admin_password: str = setting("", "First password of the user admin (first start only).", secret=True)
    accept_risks: tuple[str, ...] = setting(
        (), "Risks of these settings, by name: refused ones become warnings, accepted warnings are silenced."
    )
    data: DataSettings = field(default_factory=DataSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    mongodb: MongoDBSettings = field(default_factory=MongoDBSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    ssh_ca: SshCaSettings = field(default_factory=SshCaSettings)
    license: LicenseSettings = field(default_factory=LicenseSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    events: EventSettings = field(default_factory=EventSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    executions: ExecutionSettings = field(default_factory=ExecutionSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    devices: DeviceSettings = field(default_factory=DeviceSettings)
    configs: ConfigSettings = field(default_factory=ConfigSettings)
    backups: BackupSettings = field(default_factory=BackupSettings)
    inventory: InventorySettings = field(default_factory=InventorySettings)
    polling: PollingSettings = field(default_factory=PollingSettings)
    outbound: OutboundSettings = field(default_factory=OutboundSettings)
    webhooks: WebhooksSettings = field(default_factory=WebhooksSettings)
    plugins: PluginsSettings = field(default_factory=PluginsSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    log: LogSettings = field(default_factory=LogSettings)
    vault: NotesVaultSettings = field(default_factory=NotesVaultSettings)
    docs: DocsSettings = field(default_factory=DocsSettings)
    of_plugins: Mapping[str, Any] = field(default_factory=dict)

    @property
    def master_key_path(self) -> Path | None:
        return Path(self.master_key_file) if self.master_key_file else None


def read_settings(reader: Reader) -> Settings:
    """Read the settings of the service, without those of plugins. Raises SettingsError."""
    sections = {name: reader.section(name, declared) for name, declared in _sections().items()}
    return Settings(**reader.top_level(Settings), **sections)


def table() -> Iterator[Setting]:
    """Yield every setting of the service, in the order of the file."""
    yield from rows_of("", Settings)
    for name, declared in _sections().items():
        yield from rows_of(name, declared)


def _sections() -> Mapping[str, type[Any]]:
    hints = typing.get_type_hints(Settings)
    return {entry.name: hints[entry.name] for entry in fields(Settings) if is_dataclass(hints[entry.name])}
