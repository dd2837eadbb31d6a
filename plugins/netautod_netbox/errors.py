"""The errors of reading an inventory, inside this plugin, and how texts of the inventory are quoted."""

import json
from typing import Any

from netautod.plugin_api import InventoryFailed

LONGEST_QUOTE = 300
# An error answer is a sentence or a form; more is not worth the time to parse it.
LONGEST_BODY = 64 * 1024


class Malformed(InventoryFailed):
    """The answer is not of the shape that its API promises: the whole walk fails."""


class ErrorStatus(InventoryFailed):
    """The inventory answered with an error status. `named`: the parameters or fields that it complains of."""

    def __init__(self, text: str, *, status: int, named: frozenset[str]) -> None:
        super().__init__(text)
        self.status = status
        self.named = named


class Unfit(Exception):
    """Raised for a device that cannot be imported; the walk goes on. The text ends up in the errors of the
    sync.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def error_status(system: str, status: int, body: bytes, *, token: str) -> ErrorStatus:
    """Quote `{"detail": text}` and `{"field": [texts]}`, which is how both systems answer errors."""
    problems = _problems(body)
    detail = problems.get("detail")
    parts = [detail] if isinstance(detail, str) else [_line(name, found) for name, found in problems.items()]
    words = quote("; ".join(parts), token=token)
    reason = {
        400: f"{system} does not accept the request",
        401: "access is refused",
        403: "access is refused",
        429: f"{system} asks for longer pauses than a sync can make",
    }.get(status, f"the answer has the status {status}")
    return ErrorStatus(f"{reason}: {words}" if words else reason, status=status, named=frozenset(problems))


def quote(text: str, *, token: str) -> str:
    """Quote a text of the inventory on one line, cut, and without the token, which it might repeat."""
    shown = text[:LONGEST_BODY].replace(token, "***") if token else text[:LONGEST_BODY]
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in shown).split())
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + " ..."


def _problems(body: bytes) -> dict[str, Any]:
    if len(body) > LONGEST_BODY:
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _line(name: str, found: Any) -> str:
    texts = [text for text in (found if isinstance(found, list) else [found]) if isinstance(text, str)]
    return f"{name}: {' '.join(texts)}"
