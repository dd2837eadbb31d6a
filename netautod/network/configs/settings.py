"""The settings of stored configs and of the look for stale backups."""

from dataclasses import dataclass

from netautod.core.settings.field import setting


@dataclass(frozen=True, kw_only=True)
class ConfigSettings:
    search_cache_bytes: int = setting(
        64 * 1024 * 1024, "Memory for redacted configs, compressed, that speed up searches.", low=0
    )
    parts_hours: float = setting(
        20.0,
        "Hours after which parts (an inventory, licences) are read again though the config is unchanged; "
        "0: parts are not read at all.",
        low=0,
        high=876_000,
    )
    search_seconds: float = setting(25.0, "Seconds that a search of all configs may take.", low=0.1)


@dataclass(frozen=True, kw_only=True)
class BackupSettings:
    stale_hours: float = setting(
        48.0,
        "A device without a good backup for so long is stale, and observers are notified; 0: none is.",
        low=0,
        high=876_000,
    )
    stale_check_seconds: float = setting(60.0, "Seconds between two looks for such devices.", low=0.05)
