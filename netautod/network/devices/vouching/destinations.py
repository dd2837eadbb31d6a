"""The vouching for each device on a way through jump devices, before anything is sent to one of them.

A device stands for its address if it is vouched for and everything before it on the way is, too: another
party's jump device connects wherever that party likes. A pinned host key stands for its device wherever it
answers, since the connection ends where another key does; over telnet there is none.
"""

from collections.abc import Sequence

from netautod.network.credentials.models import Destination
from netautod.network.devices.models import SSH, Device


def destinations(way: Sequence[Device]) -> list[Destination]:
    """Return the destinations in the order of the way, the device itself last."""
    found: list[Destination] = []
    is_vouched = True  # the way so far
    for device in way:
        trusted = device.vouched and is_vouched
        proven = trusted or device.proves_itself
        pins = trusted and device.protocol == SSH
        found.append(
            Destination(host=device.host, vouched=proven, way_vouched=is_vouched, may_be_pinned=pins)
        )
        is_vouched = is_vouched and proven
    return found


def is_same(before: Device, now: Device) -> bool:
    """Return whether what `destinations` found for `before` holds for the device as it is now, with or
    without a new pin.
    """
    kept = ("host", "port", "protocol", "jump_device_id", "vouched", "updated_at")
    same = all(getattr(before, name) == getattr(now, name) for name in kept)
    return same and before.host_key_fingerprint in (None, now.host_key_fingerprint)
