"""The section `[reports]` of the settings."""

from dataclasses import dataclass

from netautod.plugin_api import setting


@dataclass(frozen=True, kw_only=True)
class ReportsSettings:
    stale_hours: float = setting(
        26.0, "Hours after which the last good backup of a device counts as stale.", low=1, high=8760
    )
