"""Speeds, states and times as devices print them."""

import re
from collections.abc import Mapping
from typing import Any

_SPEED = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[GMKT]?)", re.IGNORECASE)
_FACTOR = {"k": 0.001, "m": 1.0, "g": 1000.0, "t": 1_000_000.0, "": 1.0}
_UNITS = {
    "year": 31_536_000,
    "week": 604_800,
    "day": 86_400,
    "hour": 3600,
    "hr": 3600,
    "minute": 60,
    "min": 60,
    "second": 1,
    "sec": 1,
    "y": 31_536_000,
    "w": 604_800,
    "d": 86_400,
    "h": 3600,
    "m": 60,
    "s": 1,
}
_TIME = re.compile(
    r"(\d+)\s*\(?(years?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[ywdhms])(?![a-z])"
)
AGGREGATES = ("port-channel", "bundle-ether", "po")
UP = frozenset({"u", "up", "trunking", "connected", "enabled", "enable"})


def count(text: str | None) -> int | None:
    """Parse a whole number."""
    return int(text) if text is not None and re.fullmatch(r"\d{1,12}", text.strip()) else None


def speed_of(record: Mapping[str, Any]) -> int | None:
    """Return the speed in Mbit/s: `1000Mbps`, `10 Gb/s`, `a-1000`, `1000FDx`, `10G`, else a bandwidth in
    kbit/s.

    The speed of an aggregate is that of one member; its bandwidth that of all.
    """
    bandwidth = re.search(r"(\d+)\s*[Kk](?:bit|bps)", str(record.get("bandwidth") or ""))
    is_aggregate = str(record.get("interface") or "").lower().startswith(AGGREGATES)
    match = _SPEED.search(str(record.get("speed") or ""))
    if match is None or (is_aggregate and bandwidth is not None):
        return None if bandwidth is None else int(bandwidth[1]) // 1000 or None
    speed = float(match["number"]) * _FACTOR[match["unit"].lower()]
    return int(speed) if speed >= 1 else None


def duplex_of(text: str | None) -> str | None:
    lower = (text or "").lower()
    for name in ("full", "half"):
        if name in lower:
            return name
    if "fdx" in lower or "hdx" in lower:
        return "full" if "fdx" in lower else "half"
    return "auto" if "auto" in lower else None


def state_of(record: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the wanted and the actual state: `administratively down`, `Enabled` and `Down`, flags of
    RouterOS.

    A link that is up under a protocol that is down carries nothing (RFC 2863, 3.1.13).
    """
    unit = str(record.get("unit_flags") or "").lower()
    if "unit" in record:  # Junos: "Up SNMP-Traps", "Device-Down"; a loopback has no word for up
        return ("down" if unit.startswith("down") else "up"), ("down" if "down" in unit else "up")
    admin_text = str(record.get("admin_state") or "").lower().strip(" ,")
    oper_text = str(record.get("link_status") or record.get("status") or "").lower()
    flags = record.get("flags")
    if flags is not None:  # RouterOS: X disabled, R running
        return ("down" if "X" in flags else "up"), ("up" if "R" in flags else "down")
    admin = None
    if "admin" in oper_text or "disabled" in (admin_text, oper_text):
        admin = "down"
    elif admin_text:
        admin = "up" if re.split(r"[ ,]", admin_text)[0] in UP else "down"
    elif oper_text:
        admin = "up"
    if not oper_text:
        return admin, None
    protocol = str(record.get("protocol_status") or "up").lower()
    is_up = re.split(r"[ ,(]", oper_text)[0] in UP and protocol.startswith("up")
    return admin, "up" if is_up else "down"


def percent_of(text: str | None) -> float | None:
    match = re.fullmatch(r"(\d{1,3}(?:\.\d+)?) *%?", text or "")
    return None if match is None or float(match[1]) > 100 else float(match[1])


def uptime_of(record: Mapping[str, Any]) -> int | None:
    """Return the seconds of `1 year, 22 weeks, 6 days`, `123 day(s), 5 hour(s)`, `5w3d20m51s`."""
    parts = _TIME.findall(str(record.get("uptime") or "").lower().replace("(s)", ""))
    if not parts:
        return None
    return sum(int(number) * _UNITS[unit if len(unit) == 1 else unit.rstrip("s")] for number, unit in parts)
