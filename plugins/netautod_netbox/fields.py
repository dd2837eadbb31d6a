"""Typed access to the fields of a device as JSON, and the checks of what is taken over."""

import json
from collections.abc import Mapping
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton
from typing import Any

from netautod_netbox.errors import Malformed, Unfit

Row = Mapping[str, Any]
LONGEST_TEXT = 1000
LONGEST_NAME = 255
DEEPEST = 16
MOST_CUSTOM_BYTES = 16 * 1024
MOST_PLAIN, LONGEST_PLAIN = 50, 100


def text(row: Row, name: str, *, longest: int = LONGEST_TEXT) -> str | None:
    """Return a trimmed text; None if it is absent, null or blank. Raises Malformed, or Unfit for its
    content.
    """
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Malformed(f"{name} is no text")
    tidy = value.strip()
    if len(tidy) > longest:
        raise Unfit(f"{name} is longer than {longest} characters")
    if not (tidy.isascii() and tidy.isprintable()) and not _is_storable(tidy):
        raise Unfit(f"{name} contains characters that cannot be stored")
    return tidy or None


def integer(row: Row, name: str) -> int | None:
    value = row.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise Malformed(f"{name} is no whole number")


def child(row: Row, name: str) -> Row | None:
    """Return a nested object; None if it is absent or null."""
    value = row.get(name)
    if value is None or isinstance(value, dict):
        return value
    raise Malformed(f"{name} is no object")


def children(row: Row, name: str) -> list[Row]:
    """Return a list of nested objects; empty if it is absent or null."""
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Malformed(f"{name} is no list of objects")
    return value


def text_in(row: Row, name: str, inner: str) -> str | None:
    """Return a text of a nested object; None if either is absent."""
    nested = child(row, name)
    return None if nested is None else text(nested, inner)


def texts_in(row: Row, name: str, inner: str) -> tuple[str, ...]:
    """Return that text of each object of a list, sorted, so that another order there is no change here."""
    found = (text(item, inner, longest=LONGEST_NAME) for item in children(row, name))
    return tuple(sorted({each for each in found if each is not None}))


def host_of(address: str) -> str:
    """Return an IP address without the prefix length that both systems write behind it, in its usual form."""
    bare = address.partition("/")[0]
    family = AF_INET6 if ":" in bare else AF_INET
    try:
        return inet_ntop(family, inet_pton(family, bare))
    except (OSError, ValueError) as error:  # ValueError: not even ASCII
        raise Unfit("the primary address is no IP address") from error


def custom_fields(row: Row) -> dict[str, Any]:
    """Return the fields that have a value. Raises Unfit for what JSON in our database and answers cannot
    carry.
    """
    given = child(row, "custom_fields") or {}
    found = {name: value for name, value in given.items() if value is not None}
    if all(_is_plain(value) for value in found.values()) and len(found) <= MOST_PLAIN:
        return found
    if not all(_is_shallow(value, DEEPEST) for value in found.values()):
        raise Unfit(f"custom_fields are nested over {DEEPEST} levels deep")
    try:
        size = len(json.dumps(found, ensure_ascii=False, allow_nan=False).encode())
    except ValueError as error:  # a lone surrogate, or 1e999
        raise Unfit("custom_fields contain values that cannot be stored") from error
    if size > MOST_CUSTOM_BYTES:
        raise Unfit(f"custom_fields are larger than {MOST_CUSTOM_BYTES // 1024} KiB")
    return found


def _is_plain(value: Any) -> bool:
    """Return whether the value needs no further look; nearly all custom fields do not."""
    if isinstance(value, str):
        return len(value) <= LONGEST_PLAIN and value.isascii()
    return isinstance(value, int)


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    if levels == 0:
        return False
    inner = value.values() if isinstance(value, dict) else value
    return all(_is_shallow(each, levels - 1) for each in inner)


def _is_storable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return "\x00" not in value
