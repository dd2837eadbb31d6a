"""The limits of an audit event's details: plain values, of bounded size, and never a secret.

Everything that is written passes through here, whichever service wrote it. So a service that forgets to do so
leaks nothing and fills no disk.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from netautod.core.json.values import INT64_MAX, INT64_MIN, to_text
from netautod.secrets.redaction.commands import shown_command
from netautod.secrets.redaction.patterns import without_secret_patterns

MAX_TEXT = 2048
MAX_ITEMS = 100
MAX_DEPTH = 6
MAX_BYTES = 32 * 1024
HIDDEN = "***"
# Keys of texts that quote commands, devices or other systems. Not all keys: fingerprints look like secrets.
QUOTING = ("command", "cmd", "error", "message", "output")
# Keys of texts of people and of addresses, in which only unmistakable secrets are hidden.
FREE = ("reason", "comment", "url", "inventory_url", "query", "q")
QUOTED = (*QUOTING, *FREE)  # lists of them too: `commands`
CUT = "..."
# A text under a key that ends like this may be a secret. A key that is only about one (`has_secret`,
# `token_id`, `secrets_total`) ends otherwise, or its value is no text.
_SECRET_KEY = re.compile(
    r"(^|[_-])(pass(word|phrase|wd|code)?|secrets?|tokens?|community|otp|pin|auth(orization)?|cookie"
    r"|credentials?|(auth|priv|private|api|access|signing|master|encryption)_?keys?|recovery_codes?)$",
    re.IGNORECASE,
)


def safe(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details as they are stored: bounded, secrets hidden, long texts and lists cut."""
    found: dict[str, Any] = _safe(details, 0)
    size = len(json.dumps(found))
    if size <= MAX_BYTES:
        return found
    short = {key: value for key, value in found.items() if not isinstance(value, str | list | dict)}
    return {**short, "cut_bytes": size}


def plain(value: Any) -> Any:
    """Return the value in types that JSON and the database both hold, so that it is read back as it was
    written.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if INT64_MIN <= value <= INT64_MAX else str(value)
    if isinstance(value, float):
        return float(value) if abs(value) != float("inf") and value == value else str(value)
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Mapping):
        return {str(key).replace("\x00", ""): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def _safe(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + CUT
    if isinstance(value, Mapping | list | tuple | set | frozenset) and depth >= MAX_DEPTH:
        return CUT
    if isinstance(value, Mapping):
        kept = islice(value.items(), MAX_ITEMS)
        found = {_key(key): _hidden(str(key), item, depth) for key, item in kept}
        return found if len(value) <= MAX_ITEMS else {**found, CUT: f"{len(value) - MAX_ITEMS} more"}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_safe(item, depth + 1) for item in islice(value, MAX_ITEMS)]
        return items if len(value) <= MAX_ITEMS else [*items, f"{CUT} {len(value) - MAX_ITEMS} more"]
    return plain(value)


def _key(key: object) -> str:
    return str(key).replace("\x00", "")[:MAX_TEXT]


def _hidden(key: str, value: Any, depth: int) -> Any:
    if _SECRET_KEY.search(key) and isinstance(value, str | bytes) and value:
        return HIDDEN
    one = key if key in QUOTED else key.removesuffix("s")
    if isinstance(value, list | tuple) and one in QUOTED and depth < MAX_DEPTH:
        items = [_hidden(one, item, depth + 1) for item in value[:MAX_ITEMS]]
        return items if len(value) <= MAX_ITEMS else [*items, f"{CUT} {len(value) - MAX_ITEMS} more"]
    if isinstance(value, str) and key in QUOTING:
        return shown_command(_safe(value, depth))
    if isinstance(value, str) and key in FREE:
        return without_secret_patterns(_safe(value, depth))
    return _safe(value, depth + 1)
