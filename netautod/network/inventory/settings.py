"""The settings of synchronisations with inventory systems."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from netautod.core.settings.field import SettingsError, setting

OVERRIDE = re.compile(r"([A-Za-z0-9_-]+)\s*=\s*([a-z0-9_]{1,64})")


@dataclass(frozen=True, kw_only=True)
class InventorySettings:
    sync_seconds: float = setting(600.0, "Seconds that one synchronisation may take.", low=1)
    test_seconds: float = setting(
        24.0,
        "Seconds in which an inventory must say what it is, and at the test, which takes no longer than 24, "
        "count its devices.",
        low=0.1,
    )
    max_devices: int = setting(50_000, "Devices of one inventory at most.", low=1)
    device_types: tuple[str, ...] = setting(
        (), 'Device types of platform slugs, where the guess is wrong: "slug=device_type".'
    )
    scan_seconds: float = setting(30.0, "Seconds between two looks for sources that are due.", low=0.05)
    concurrent_syncs: int = setting(4, "Due sources that one node synchronises at a time.", low=1)

    def check(self) -> None:
        device_types(self)


def device_types(settings: InventorySettings) -> Mapping[str, str]:
    """Return the overrides by platform slug. Raises SettingsError."""
    found = {}
    for text in settings.device_types:
        parts = OVERRIDE.fullmatch(text.strip())
        if parts is None:
            raise SettingsError(f"inventory.device_types: {text!r} is not of the form slug=device_type")
        found[parts[1]] = parts[2]
    return found
