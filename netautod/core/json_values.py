"""Strict JSON: what a value may contain to be sent and stored, and how it and moments are written."""

import json
from datetime import UTC, datetime
from typing import Any

from netautod.core.errors import InvalidInput

MAX_DEPTH = 64
LONGEST_NAME = 200
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


def decode(body: bytes) -> Any:
    """The JSON value of a body; raises InvalidInput for anything that JSON or BSON could not carry."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The request body is not valid JSON") from error
    check(value)
    return value


def check(value: Any) -> None:
    """Raises InvalidInput, naming the place, for a value that BSON or the API could not carry."""
    _check(value, "", 0)


def encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _check(value: Any, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"The request body is nested over {MAX_DEPTH} levels deep")
    if isinstance(value, str):
        check_text(value, path or "the body")
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise InvalidInput(f"{named(path) or 'the body'}: the number does not fit into 64 bits")
    elif isinstance(value, float):
        if value in (float("inf"), float("-inf")):  # what 1e999 decodes to
            raise InvalidInput(f"{named(path) or 'the body'}: the number is out of range")
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key, path or "a field name")
            _check(item, f"{path}.{key}" if path else key, depth + 1)
    else:
        for position, item in enumerate(value):
            _check(item, f"{path}[{position}]", depth + 1)


def named(path: str) -> str:
    """The name of a place for a sentence: a client may have made it as long as the body."""
    return path if len(path) <= LONGEST_NAME else f"{path[:LONGEST_NAME]}..."


def check_text(text: str, where: str) -> None:
    """Raises InvalidInput for NUL and for lone surrogates, which the database cannot keep."""
    if "\x00" in text:
        raise InvalidInput(f"{named(where)}: NUL is not allowed in a text")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{named(where)}: the text is not valid Unicode") from error


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and `Z`: `2026-11-21T06:44:12.345Z`."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def optional_text(moment: datetime | None) -> str | None:
    """`to_text` for a value that may be absent."""
    return None if moment is None else to_text(moment)
