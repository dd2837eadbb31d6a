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

from netautod.auth.settings import Ldap, Oidc, SshCa
from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.webhook import Webhook
from netautod.inventory.settings import Inventory

__all__ = ["Row", "Settings", "SettingsError", "setting", "table"]

ENVIRONMENT_PREFIX = "NETAUTOD_"


def _default_data_dir() -> Path:
    state = os.environ.get("STATE_DIRECTORY")  # systemd's StateDirectory=
    if state:
        return Path(state.split(":", 1)[0])
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "netautod"


@dataclass(frozen=True, kw_only=True)
class Server:
    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(8080, "TCP port; 0 picks a free one and the ready line names it.", low=0, high=65535)
    behind_proxy: bool = setting(False, "A TLS-terminating proxy stands in front (silences the warning).")
    instance_name: str = setting("netautod", "What clients show as the name of this installation.")
    trusted_proxies: tuple[str, ...] = setting(
        (), "Proxy addresses or networks whose X-Forwarded-For is believed."
    )
    tls_certificate: str = setting("", "PEM file with the certificate chain; empty: plain HTTP.")
    tls_key: str = setting("", "PEM file with the private key of tls_certificate.")
    cors_origins: tuple[str, ...] = setting((), "Browser origins that may call the API.")
    max_connections: int = setting(2000, "Open client connections at most; more are closed at once.", low=1)
    body_timeout: float = setting(30.0, "Seconds for a request's body to arrive.", low=0.1)
    idle_timeout: float = setting(60.0, "Seconds for the next request and its headers to arrive.", low=0.1)
    drain_seconds: float = setting(30.0, "Seconds that running work may take to finish at a stop.", low=0)


@dataclass(frozen=True, kw_only=True)
class MongoDB:
    uri: str = setting("", "MongoDB connection string (a replica set); empty: the service runs its own.")
    database: str = setting("netautod", "Name of the database.")
    timeout_seconds: float = setting(5.0, "Seconds to look for a writable server.", low=0.1)
    pool_size: int = setting(100, "Connections to the database at most.", low=5)


@dataclass(frozen=True, kw_only=True)
class Auth:
    access_token_seconds: int = setting(3600, "Life of an access token.", low=600)
    refresh_token_days: float = setting(7.0, "Life of one refresh token.", low=0.01)
    refresh_family_days: float = setting(30.0, "Life of a login however often it is refreshed.", low=0.01)
    password_min_length: int = setting(12, "Shortest password accepted.", low=8, high=256)
    session_cache_seconds: float = setting(1.0, "Age at most of a cached session check.", low=0, high=1)
    lockout_failures: int = setting(10, "Failed logins from one address until it is locked out.", low=1)
    lockout_window: int = setting(900, "Seconds in which failed logins are counted together.", low=1)
    lockout_seconds: int = setting(900, "Seconds that an address stays locked out.", low=1)


@dataclass(frozen=True, kw_only=True)
class License:
    seats: int = setting(0, "Terminal sessions that may be in use at a time; 0: unlimited.", low=0)
    seat_idle_minutes: float = setting(
        120.0, "A seat is free after so many minutes without a request.", low=0.01
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    requests_per_second: float = setting(100.0, "Requests per second and caller; 0: no limit.", low=0)
    burst: int = setting(200, "Requests a caller may send at once before the rate applies.", low=1)


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    scan_seconds: float = setting(1.0, "Seconds between two scans for due tasks.", low=0.05)
    catch_up_seconds: float = setting(3600.0, "A missed run is made up for if younger than this.", low=0)
    batch: int = setting(1000, "Due tasks handled in one round trip.", low=1, high=10000)


@dataclass(frozen=True, kw_only=True)
class Executions:
    slots: int = setting(20, "Executions that one node runs at a time.", low=1)
    lease_seconds: float = setting(30.0, "A run belongs to its node this long without a heartbeat.", low=0.3)
    heartbeat_seconds: float = setting(10.0, "Seconds between two heartbeats.", low=0.1)
    abandon_seconds: float = setting(
        20.0, "A node without an acknowledged heartbeat aborts its runs.", low=0.2
    )
    reap_grace_seconds: float = setting(
        5.0, "A dead node's run is taken over this long after its lease.", low=0
    )
    approval_hours: float = setting(24.0, "A parked run waits this long for its approval.", low=0)
    log_lines: int = setting(10_000, "Log lines kept per execution at most.", low=1)
    log_bytes: int = setting(4 * 1024 * 1024, "Bytes of log kept per execution at most.", low=1024)
    cancel_grace_seconds: float = setting(5.0, "A cancelled executor has this long to clean up.", low=0)


@dataclass(frozen=True, kw_only=True)
class Retention:
    execution_days: float = setting(90.0, "Executions older than this are deleted.", low=0)
    executions_per_task: int = setting(200, "Executions kept per task at most.", low=1)
    config_versions: int = setting(0, "Config versions kept per device at most; 0: all.", low=0)
    config_days: float = setting(
        0.0,
        "Config versions that a device has not had for so many days are deleted; 0: none.",
        low=0,
        high=36_500,
    )
    deleted_device_days: float = setting(
        90.0, "Configs and snapshots of a deleted device are kept so many days.", low=0, high=36_500
    )
    audit_days: float = setting(
        400.0, "Audit events older than this are deleted; 0: none.", low=0, high=36_500
    )
    sync_history: int = setting(200, "Synchronisations kept in the history per inventory source.", low=1)
    interval_seconds: float = setting(3600.0, "Seconds between two clean-ups, by one node.", low=1)


@dataclass(frozen=True, kw_only=True)
class Devices:
    concurrent_sessions: int = setting(100, "Device sessions that one node holds at a time.", low=1)
    sessions_per_site: int = setting(
        0, "Sessions of bulk work that one node holds at one site at a time; 0: no limit.", low=0
    )
    connect_seconds: float = setting(15.0, "Seconds for a device to accept the login.", low=0.1)
    command_seconds: float = setting(60.0, "Seconds for a device to answer one command.", low=0.1)
    linux_capture: tuple[str, ...] = setting(
        (),
        "Files (/...) and commands that a Linux host is read by, in place of those of the platform linux; "
        "one behind a - may fail.",
    )
    max_config_bytes: int = setting(8 * 1024 * 1024, "Largest config read from a device.", low=1024)


@dataclass(frozen=True, kw_only=True)
class Configs:
    search_cache_bytes: int = setting(
        64 * 1024 * 1024, "Memory for redacted configs, compressed, that speed up searches.", low=0
    )
    search_seconds: float = setting(25.0, "Seconds that a search of all configs may take.", low=0.1)


@dataclass(frozen=True, kw_only=True)
class Backups:
    stale_hours: float = setting(
        48.0,
        "Observers are told of a device without a good backup for so long; 0: never.",
        low=0,
        high=876_000,
    )
    stale_check_seconds: float = setting(60.0, "Seconds between two looks for such devices.", low=0.05)


@dataclass(frozen=True, kw_only=True)
class Outbound:
    allow: tuple[str, ...] = setting(
        (), "Addresses or networks that outgoing requests may reach although they are local."
    )


@dataclass(frozen=True, kw_only=True)
class Plugins:
    required: tuple[str, ...] = setting((), "Plugins without which the service does not start.")
    disabled: tuple[str, ...] = setting((), "Plugins that are not loaded.")


@dataclass(frozen=True, kw_only=True)
class Log:
    level: str = setting("info", "debug, info, warning or error.")
    format: str = setting("text", "text or json.")


@dataclass(frozen=True, kw_only=True)
class NotesVault:
    auto_lock_minutes: float = setting(
        60.0, "An unlocked notes vault locks itself after so many minutes; 0: never.", low=0, high=525_600
    )


@dataclass(frozen=True, kw_only=True)
class Docs:
    render_processes: int = setting(2, "Templates that one node renders at a time.", low=1, high=64)


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
    server: Server = Server()
    mongodb: MongoDB = MongoDB()
    auth: Auth = Auth()
    ldap: Ldap = field(default_factory=Ldap)
    oidc: Oidc = field(default_factory=Oidc)
    ssh_ca: SshCa = field(default_factory=SshCa)
    license: License = License()
    limits: Limits = Limits()
    scheduler: Scheduler = Scheduler()
    executions: Executions = Executions()
    retention: Retention = Retention()
    devices: Devices = Devices()
    configs: Configs = Configs()
    backups: Backups = Backups()
    inventory: Inventory = field(default_factory=Inventory)
    outbound: Outbound = Outbound()
    plugins: Plugins = Plugins()
    log: Log = Log()
    vault: NotesVault = NotesVault()
    docs: Docs = Docs()
    webhook: Webhook = field(default_factory=Webhook)

    @property
    def master_key_path(self) -> Path | None:
        return Path(self.master_key_file) if self.master_key_file else None


@dataclass(frozen=True, kw_only=True)
class Row:
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


def table() -> Iterator[Row]:
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


def _row(section: str, entry: Field[Any], kind: Any) -> Row:
    factory = entry.default_factory
    default = entry.default if factory is MISSING else factory()
    meta: Mapping[str, Any] = entry.metadata
    return Row(
        section=section,
        name=entry.name,
        type=kind,
        default=default,
        help=meta["help"],
        low=meta.get("low"),
        high=meta.get("high"),
    )
