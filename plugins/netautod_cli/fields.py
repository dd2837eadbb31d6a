"""Values of records in the one form in which they are stored. A field has several names among templates."""

import re
from collections.abc import Iterator
from typing import Any

from netautod.plugin_api import device_text, ip_address, long_name, mac_address
from netautod_cli.records import Record

NO_PORT = frozenset({"", "-", "--", "none", "n/a", "cpu", "router", "switch", "unknown"})
_SPACED = re.compile(r"[A-Za-z]+ \d+(?:/\d+)+(?:\.\d+)?")  # "Gig 1/0/1", in lists of IOS
_RANGE = re.compile(r"(?P<head>.*?)(?P<first>\d+)-(?:(?P<again>.*?))(?P<last>\d+)")


def pick(record: Record, *names: str) -> Any:
    """Return the first of the fields that has a value."""
    for name in names:
        value = record.get(name)
        if value not in (None, "", []):
            return value
    return None


def one(record: Record, *names: str) -> str | None:
    value = pick(record, *names)
    if isinstance(value, list):
        value = " ".join(map(str, value))
    text = device_text(value) if value is not None else None
    return None if text is None or text in ("-", "--") else text


def first(value: Any) -> str | None:
    return device_text(str(value[0] if isinstance(value, list) else value)) if value else None


def mac(text: str | None) -> str | None:
    """Return a MAC address, also of HP's forms: `0015b2-a45078`, and `3c e1 a1 22 18 f0` as a port id."""
    if text is None:
        return None
    if re.fullmatch(r"(?:[0-9A-Fa-f]{2} ){5}[0-9A-Fa-f]{2}", text):
        return mac_address(text.replace(" ", ":"))
    return mac_address(text) or mac_address(text.replace("-", ""))


def port(text: str | None) -> str | None:
    """Return the long name of an interface; None for what is none, as the processor of the switch."""
    if text is None or text.lower() in NO_PORT:
        return None
    return long_name(text.replace(" ", "") if _SPACED.fullmatch(text) else text)


def address(value: Any) -> str | None:
    for text in value if isinstance(value, list) else [value]:
        found = ip_address(str(text)) if text else None
        if found is not None:
            return found
    return None


def ports(value: Any) -> Iterator[str]:
    """Yield the interfaces of a list, ranges among them: `1/1/34-1/1/52`."""
    for text in value if isinstance(value, list) else [value] if value else []:
        for piece in re.split(r"[,\s]+", str(text)):
            yield from _ranged(piece.strip().rstrip("*"))


def _ranged(text: str) -> Iterator[str]:
    match = _RANGE.fullmatch(text)
    if match is not None and match["again"] in ("", match["head"]):
        start, end = int(match["first"]), int(match["last"])
        if start <= end <= start + 4096:
            for number in range(start, end + 1):
                yield long_name(f"{match['head']}{number}")
            return
    name = port(text)
    if name is not None:
        yield name
