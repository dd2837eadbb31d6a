"""Takes the body of a list page apart without holding the interpreter for long.

The C parser of `json` lets no other thread run until it is done, in a thread or not: 3 MB would stop the
event loop for 30 ms. So the page is parsed device by device, and other threads get their turn in between.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from netautod_netbox.errors import Malformed

# Most devices take 1 to 3 KB; a value that does not fit into the first piece is tried with the larger one.
PIECES = (32 * 1024, 1024 * 1024)
BLANK = re.compile(r"[ \t\n\r]*")
INT64_MAX = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Listing:
    """`count`: how many objects the request matches, this page and those after it."""

    count: int
    rows: list[dict[str, Any]]


def parse(body: bytes) -> Listing:
    """Raises Malformed for everything that is not `{"count": number, "results": [objects]}`."""
    try:
        members = dict(_members(body.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not valid JSON") from error
    count, rows = members.get("count"), members.get("results")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= INT64_MAX:
        raise Malformed("the answer is no list with a count")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Malformed("the answer has no list of objects in results")
    return Listing(count=count, rows=rows)


def _members(text: str) -> Iterator[tuple[str, Any]]:
    """The members of the object; ValueError if the text is none."""
    at = _expect(text, 0, "{")
    if text[at : at + 1] == "}":
        return
    while True:
        name, at = _value(text, at)
        if not isinstance(name, str):
            raise ValueError("a name is no string")
        at = _expect(text, at, ":")
        value, at = _array(text, at) if text[at : at + 1] == "[" else _value(text, at)
        yield name, value
        if text[at : at + 1] != ",":
            break
        at = _expect(text, at, ",")
    at = _expect(text, at, "}")
    if at != len(text):
        raise ValueError("something follows the object")


def _array(text: str, at: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = _expect(text, at, "[")
    if text[at : at + 1] != "]":
        while True:
            value, at = _value(text, at)
            found.append(value)
            if text[at : at + 1] != ",":
                break
            at = _expect(text, at, ",")
    return found, _expect(text, at, "]")


def _expect(text: str, at: int, sign: str) -> int:
    """The place behind the sign and the blanks around it."""
    at = _after_blanks(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign}")
    return _after_blanks(text, at + 1)


def _value(text: str, at: int) -> tuple[Any, int]:
    """One value and the place behind it and the blanks after it."""
    for size in PIECES:
        piece = text[at : at + size]
        try:
            value, used = DECODER.raw_decode(piece)
        except json.JSONDecodeError:
            if len(piece) < size:
                raise
            continue
        return value, _after_blanks(text, at + used)
    raise ValueError(f"a value is larger than {PIECES[-1]} bytes")


def _after_blanks(text: str, at: int) -> int:
    found = BLANK.match(text, at)
    assert found is not None
    return found.end()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


DECODER = json.JSONDecoder(parse_constant=_no_constant)
