"""Facts of a poll that fill the empty fields of a device. Pure."""

from collections.abc import Callable
from typing import Any

from netautod.network.devices.models import Device
from netautod.plugin_api import DeviceFacts

GENERIC = "generic"
LONGEST = 255  # of these fields, as network/devices/schemas.py has them
# Fields of a device and the facts that they are filled from.
FIELDS = {"manufacturer": "vendor", "model": "model", "serial_number": "serial_number"}


def filling(
    device: Device, facts: DeviceFacts | None, *, detect: bool, knows: Callable[[str], bool]
) -> dict[str, Any]:
    """Return the changes by field, none for what a person or an inventory has set.

    With `detect` the type `generic` becomes the recognised platform, if it is one that the service `knows`.
    """
    if facts is None:
        return {}
    changes: dict[str, Any] = {}
    for name, fact in FIELDS.items():
        text = (getattr(facts, fact) or "").strip()
        if text and len(text) <= LONGEST and not getattr(device, name):
            changes[name] = text
    found = facts.device_type
    if detect and found is not None and device.device_type == GENERIC and found != GENERIC and knows(found):
        changes["device_type"] = found
    return changes
