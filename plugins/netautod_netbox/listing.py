"""The parser of a list page that does not hold the interpreter for long.

The C parser of `json` lets no other thread run until it is done, in a thread or not: 3 MB would stop the
event loop for 30 ms. So the page is parsed device by device, and other threads get their turn in between. Nor
are all devices of a page there at once: so many objects would make the garbage collector stop the loop.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netautod_netbox.errors import Malformed

# Most devices take 1 to 3 KB; a value that does not fit into the first piece is tried with the larger one.
PIECES = (32 * 1024, 256 * 1024)
# A few times the largest page that we request.
MOST_ROWS = 10_000
BLANK = re.compile(r"[ \t\n\r]{0,4096}")
INT64_MAX = 2**63 - 1
HEAD, TAIL = 256, 32 * 1024
MOST_GLANCES = 64  # a device has some ten objects with an id in it
COUNT = re.compile(rb'"count"\s{0,8}:\s{0,8}(\d{1,18})')
ID_FIRST = re.compile(r'\{\s{0,8}"id"\s{0,8}:\s{0,8}(\d{1,18})')
END_OF_LIST = re.compile(r"\s{0,64}\]\s{0,64}\}\s{0,64}")


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A page of a list. `count`: how many objects the request matches, those of this page and those
    after it.
    """

    count: int
    rows: int


def parse(body: bytes, take: Callable[[dict[str, Any]], None]) -> Listing:
    """Call `take` with each object of `results`, as they come.

    Raises Malformed for everything that is not `{"count": number, "results": [objects]}`, perhaps after some
    of the objects.
    """
    try:
        members = _members(body.decode("utf-8"), take)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not valid JSON") from error
    count, rows = members.get("count"), members.get("results")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= INT64_MAX:
        raise Malformed("the answer is no list with a count")
    if not isinstance(rows, int):
        raise Malformed("the answer has no list of objects in results")
    return Listing(count=count, rows=rows)


def guessed_count(body: bytes) -> int | None:
    """Return the count that `parse` will return, if it stands in front as both systems write it."""
    found = COUNT.search(body[:HEAD])
    return None if found is None else int(found[1])


def guessed_last_id(body: bytes) -> int | None:
    """Return the id of the last object, without parsing the others.

    It is right if the list is the last member, and the id the first one of the object. Both systems write
    them so; `parse` verifies it.
    """
    text = body[-TAIL:].decode("utf-8", "replace")
    for found in reversed([*ID_FIRST.finditer(text)][-MOST_GLANCES:]):
        try:
            _, end = DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if END_OF_LIST.fullmatch(text, end):
            return int(found[1])
    return None


def _members(text: str, take: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the members of the object, for `results` the number of its objects. Raises ValueError if the
    text is no object.
    """
    found: dict[str, Any] = {}
    at = _expect(text, 0, "{")
    if text[at : at + 1] == "}":
        return found
    while True:
        name, at = _value(text, at, PIECES[:1])
        if not isinstance(name, str):
            raise ValueError("a name is no string")
        at = _expect(text, at, ":")
        found[name], at = _objects(text, at, take) if name == "results" else _value(text, at, PIECES[:1])
        if text[at : at + 1] != ",":
            break
        at = _expect(text, at, ",")
    at = _expect(text, at, "}")
    if at != len(text):
        raise ValueError("something follows the object")
    return found


def _objects(text: str, at: int, take: Callable[[dict[str, Any]], None]) -> tuple[int, int]:
    """Return the number of objects, and the place behind them."""
    if text[at : at + 1] != "[":
        raise Malformed("the answer has no list of objects in results")
    at, rows = _expect(text, at, "["), 0
    while text[at : at + 1] != "]":
        if rows > 0:
            at = _expect(text, at, ",")
        value, at = _value(text, at, PIECES)
        if not isinstance(value, dict):
            raise Malformed("the answer has no list of objects in results")
        rows += 1
        if rows > MOST_ROWS:
            raise Malformed("the answer has far more objects than requested")
        take(value)
    return rows, _expect(text, at, "]")


def _expect(text: str, at: int, sign: str) -> int:
    """Return the place behind the sign and the blanks around it."""
    at = _after_blanks(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign}")
    return _after_blanks(text, at + 1)


def _value(text: str, at: int, pieces: Sequence[int]) -> tuple[Any, int]:
    """Return one value and the place behind it and its blanks; ValueError if it is larger than the pieces."""
    for size in pieces:
        piece = text[at : at + size]
        try:
            value, used = DECODER.raw_decode(piece)
        except json.JSONDecodeError:
            if len(piece) < size:
                raise
            continue
        return value, _after_blanks(text, at + used)
    raise ValueError("a value is too large")


def _after_blanks(text: str, at: int) -> int:
    found = BLANK.match(text, at)
    assert found is not None
    return found.end()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


DECODER = json.JSONDecoder(parse_constant=_no_constant)
