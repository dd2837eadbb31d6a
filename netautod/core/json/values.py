"""Strict JSON: what a value may contain to be sent and stored, and how it and moments are written."""

import json
import re
from datetime import UTC, datetime
from itertools import islice
from math import isfinite
from typing import Any

import orjson

from netautod.core.errors import InvalidInput

MAX_DEPTH = 64
LONGEST_NAME = 200
# Names of members may be numbers, as Python's own encoder has it; of moments our own text is written alone.
OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
MOST_VALUES = 350_000  # in one body, at any depth; 512 KiB of the smallest ones
MOST_LOCATED = 3 * MOST_VALUES  # of more it is not said where they are
# Possessive, or the engine would remember each character of a long text.
TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
IN_UTC = "+00:00"
WITH_MICROSECONDS = len('"2026-11-21T06:44:12.345678Z"')
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


def decode(body: bytes) -> Any:
    """Return the JSON value of a body. Raises InvalidInput for anything that JSON or BSON could not carry."""
    if separators(body) >= MOST_VALUES:
        _refuse_too_many(body)
    value = _loaded(body)
    check(value)
    return value


def _refuse_too_many(body: bytes) -> None:
    """Raise InvalidInput for too many values. It names the place, unless finding it would take too much
    memory.
    """
    count = separators(TEXTS.sub(b"", body))
    if count < MOST_VALUES:
        return
    place = "The request body"
    if count <= MOST_LOCATED:
        value = _loaded(body)
        if isinstance(value, dict):
            place = _largest(value)
    raise InvalidInput(f"{place}: More than {MOST_VALUES:,} values in one body")


def _largest(value: dict[str, Any]) -> str:
    if len(value) >= MOST_VALUES:
        return f"{', '.join(map(named, islice(value, 5)))} ... and {len(value) - 5:,} more"
    return named(max(value, key=lambda name: len(encode(value[name]))))


def _loaded(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The request body is not valid JSON") from error


def separators(body: bytes) -> int:
    """Return a lower bound for the number of values in a body, less one. Separators within texts count too,
    but it is quick.
    """
    return sum(body.count(sign) for sign in (b",", b"[", b"{"))


def check(value: Any) -> None:
    """Raise InvalidInput, naming the place, for a value that BSON or the API could not carry."""
    try:
        _check(value, 0)
    except _Unfit as error:
        place = "".join(reversed(error.steps)).lstrip(" .")
        raise InvalidInput(
            error.text if error.alone else f"{named(place) or 'the body'}: {error.text}"
        ) from error


class _Unfit(Exception):
    """Raised for an unfit value; it collects the path on its way up, since most values are fine and never
    need theirs.
    """

    def __init__(self, text: str, *, alone: bool = False) -> None:
        self.text = text
        self.alone = alone
        self.steps: list[str] = []


def encode(value: Any) -> bytes:
    """Return compact JSON in UTF-8. Raises TypeError for what is no JSON; a float that is no number becomes
    null.
    """
    return orjson.dumps(value, option=OPTIONS)


def no_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are no JSON: for `parse_constant`."""
    raise ValueError(name)


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Unfit(f"The request body is nested over {MAX_DEPTH} levels deep", alone=True)
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise _Unfit("the number does not fit into 64 bits")
    elif isinstance(value, float):
        if not isfinite(value):  # 1e999 decodes to infinity
            raise _Unfit("the number is out of range")
    else:
        _check_parts(value, depth)


def _check_parts(value: Any, depth: int) -> None:
    named_parts = isinstance(value, dict)
    if named_parts:
        _check_names(value)
    for key, item in value.items() if named_parts else enumerate(value):
        try:
            _check(item, depth + 1)
        except _Unfit as error:
            error.steps.append(f".{named(str(key))}" if named_parts else f"[{key}]")
            raise


def _check_names(value: dict[str, Any]) -> None:
    for name in value:
        try:
            _check_text(name)
        except _Unfit as error:
            error.steps.append(" (a field name)")
            raise


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise _Unfit("NUL is not allowed in a text")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _Unfit("the text is not valid Unicode") from error


def named(path: str) -> str:
    """Return a place for an error sentence, cut: a client may have made its name as long as the body."""
    return path if len(path) <= LONGEST_NAME else f"{path[:LONGEST_NAME]}..."


def check_text(text: str, where: str) -> None:
    """Raise InvalidInput for NUL and for lone surrogates, which the database cannot keep."""
    try:
        _check_text(text)
    except _Unfit as error:
        raise InvalidInput(f"{named(where)}: {error.text}") from error


def to_text(moment: datetime) -> str:
    """Return ISO 8601 in UTC with milliseconds and `Z`: `2026-11-21T06:44:12.345Z`."""
    quoted = orjson.dumps(moment, option=orjson.OPT_UTC_Z)  # takes a third of the time of isoformat
    if len(quoted) == WITH_MICROSECONDS and quoted.endswith(b'Z"'):
        return f"{quoted[1:24].decode()}Z"
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix(IN_UTC) + "Z"


def optional_text(moment: datetime | None) -> str | None:
    """Return `to_text` of a moment, or None if it is absent."""
    return None if moment is None else to_text(moment)
