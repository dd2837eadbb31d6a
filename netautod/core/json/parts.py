"""JSON encoded in parts, so that the event loop gets its turns while an answer of many MiB is written."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

from netautod.core.json import values as json_values

# A part of this many bytes, or this many pieces, takes the loop a few milliseconds at most.
PART_BYTES = 64 * 1024
PART_PIECES = 500
# What is encoded in one go: values, and characters that cost as much as one.
LIGHT = 5000
CHARACTERS_PER_VALUE = 64
STEP = 64 * 1024
RECORD = 100  # at most as many values, with the characters of as many
SCALARS = frozenset({int, float, bool, type(None)})
T = TypeVar("T")
ITEMS = 500  # of a long array, encoded in one go if they are light


def encoded_parts(value: Any) -> Iterator[bytes]:
    """Yield the JSON of the value in parts, at least one. Joined they equal `json_values.encode`."""
    pieces: list[bytes] = []
    size = 0
    for piece in _pieces(value):
        pieces.append(piece)
        size += len(piece)
        if size >= PART_BYTES or len(pieces) >= PART_PIECES:
            yield b"".join(pieces)
            pieces, size = [], 0
    if pieces:
        yield b"".join(pieces)


async def array_parts(
    items: AsyncGenerator[T, None], to_json: Callable[[T], Any]
) -> AsyncGenerator[bytes, None]:
    """Yield the JSON of an array whose items are fetched one after the other; at least one part.

    An item is fetched when there is room for it in the part that is being built.
    """
    pieces, size, before = list[bytes](), 0, b"["
    async with aclosing(items):
        async for item in items:
            pieces.append(before)
            before = b","
            value = to_json(item)
            for piece in (json_values.encode(value),) if _is_light(value) else _pieces(value):
                pieces.append(piece)
                size += len(piece)
                if size >= PART_BYTES or len(pieces) >= PART_PIECES:
                    yield b"".join(pieces)
                    pieces, size = [], 0
    yield b"".join([*pieces, b"]" if before == b"," else b"[]"])


async def object_parts(
    value: Mapping[str, Any], name: str, items: AsyncGenerator[T, None], to_json: Callable[[T], Any]
) -> AsyncGenerator[bytes, None]:
    """Yield the JSON of a small object that has, under `name`, an array as `array_parts` yields it."""
    yield json_values.encode(value)[:-1] + b"," + json_values.encode(name) + b":"
    async with aclosing(array_parts(items, to_json)) as parts:
        async for part in parts:
            yield part
    yield b"}"


def _pieces(value: Any) -> Iterator[bytes]:
    if _is_light(value):
        yield json_values.encode(value)
    elif isinstance(value, str):
        yield b'"'
        for start in range(0, len(value), STEP):
            yield json_values.encode(value[start : start + STEP])[1:-1]
        yield b'"'
    elif isinstance(value, dict):
        before = b"{"
        for name, item in value.items():
            yield before + json_values.encode(str(name)) + b":"
            yield from _pieces(item)
            before = b","
        yield b"}"
    else:
        before = b"["
        for start in range(0, len(value), ITEMS):
            items = value[start : start + ITEMS]
            if _is_light(items):
                yield before + json_values.encode(items)[1:-1]
                before = b","
                continue
            for item in items:
                yield before
                yield from _pieces(item)
                before = b","
        yield b"]"


def _is_light(value: Any) -> bool:
    """Return whether a value is small enough to be encoded at once. Looks at no more values than that
    allows."""
    if type(value) is dict and _is_light_record(value):
        return True
    left, characters, waiting = LIGHT, 0, list[Collection[Any]]([(value,)])
    while waiting:
        values = waiting.pop()
        left -= len(values)
        if left < 0:
            return False
        for one in values:
            kind = type(one)  # nearly all are of these very types, and isinstance takes longer
            if kind is str:
                characters += len(one)
            elif kind in SCALARS:
                continue
            elif isinstance(one, dict):
                if len(one) > left:
                    return False
                characters += sum(map(len, one))
                waiting.append(one.values())
            elif isinstance(one, str):
                characters += len(one)
            elif isinstance(one, list | tuple) and one:
                waiting.append(one)
    return characters <= left * CHARACTERS_PER_VALUE


def _is_light_record(value: dict[Any, Any]) -> bool:
    """Return whether a record has only a few names with short texts, numbers and the like, as most items of a
    list do.
    """
    if len(value) > RECORD:
        return False
    characters = sum(map(len, value))
    for one in value.values():
        kind = type(one)
        if kind is str:
            characters += len(one)
        elif kind not in SCALARS:
            return False
    return characters <= RECORD * CHARACTERS_PER_VALUE
