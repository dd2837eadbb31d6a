"""Under which file name each device is exported: its own where every file system takes that. Pure."""

import re
from collections import Counter
from collections.abc import Mapping

_SAFE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# Windows keeps these for itself, with any extension.
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_ID_DIGITS = 8


def file_names(devices: Mapping[str, str]) -> dict[str, str]:
    """Return file names by id, for names by id: unique also where capitals do not count.

    A name that had to be changed, or that another device has but for capitals, gets the beginning of the id.
    """
    folded = Counter(name.casefold() for name in devices.values())
    return {
        device_id: name if _is_safe(name) and folded[name.casefold()] == 1 else _changed(name, device_id)
        for device_id, name in devices.items()
    }


def _is_safe(name: str) -> bool:
    return bool(_SAFE.fullmatch(name)) and not _RESERVED.fullmatch(name) and "~" not in name


def _changed(name: str, device_id: str) -> str:
    tidy = _UNSAFE.sub("_", name).strip(".")[:80] or "device"
    return f"{tidy}~{device_id[:_ID_DIGITS]}"
