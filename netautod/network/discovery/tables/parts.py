"""The rows of a table cut into parts, at the same places again while the rows are the same.

Rows are in the order of their keys, and a part ends behind a key whose checksum says so. So a row that comes
or goes changes one part, and all others need not be written again.
"""

import asyncio
import heapq
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

Fields = dict[str, Any]
Key = tuple[Any, ...]
T = TypeVar("T")
SLICE = 1000  # rows that are sorted or looked at without a pause
ENDS = 256  # one key of so many ends a part
# Of one part; a weight of one is an entry of a MAC table. The heaviest rows that pass the checks (of VLANs,
# 8 KB for each one) then make a document of half the 16 MB that the server takes.
MOST_WEIGHT = 1024
# Written or read at once: the driver encodes and decodes it in one go, and no other task runs meanwhile.
BATCH_WEIGHT = 1500


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a table. `digest` tells parts with other rows apart."""

    rows: list[Fields]
    digest: str
    weight: int


async def parts_of(
    rows: Sequence[Fields], key: Callable[[Fields], Key], weight: Callable[[Fields], int]
) -> list[Part]:
    """Return parts in the order of the keys; of two rows with one key the later one counts."""
    parts: list[Part] = []
    current: list[Fields] = []
    heavy, last = 0, None
    async for place, row in _ordered(rows, key):
        if place == last:
            heavy += weight(row) - weight(current[-1])
            current[-1] = row
            continue
        weighs = weight(row)
        if current and (heavy + weighs > MOST_WEIGHT or _ends(last)):
            parts.append(Part(rows=current, digest=_digest(current), weight=heavy))
            current, heavy = [], 0
            await asyncio.sleep(0)
        current.append(row)
        heavy += weighs
        last = place
    if current:
        parts.append(Part(rows=current, digest=_digest(current), weight=heavy))
    return parts


def in_loads(named: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the ids of the parts that a header names, in their order and in batches that do not hold the
    loop.
    """
    batches: list[list[str]] = []
    heavy = 0
    for part in named:
        if not batches or heavy + part["weight"] > BATCH_WEIGHT:
            batches.append([])
            heavy = 0
        batches[-1].append(part["id"])
        heavy += part["weight"]
    return batches


async def let_go(things: list[T] | set[T]) -> None:
    """Empty it in slices: to give the memory of 50,000 rows back at once holds the loop for 10 ms."""
    while things:
        for _ in range(min(len(things), SLICE)):
            things.pop()
        await asyncio.sleep(0)


async def _ordered(rows: Sequence[Fields], key: Callable[[Fields], Key]) -> AsyncIterator[tuple[Key, Fields]]:
    """Yield the rows sorted in slices: one sort of 50,000 rows would hold the loop for its whole time."""
    runs: list[list[tuple[Key, int, Fields]]] = []
    for start in range(0, len(rows), SLICE):
        numbered = enumerate(rows[start : start + SLICE], start)
        runs.append(sorted((_comparable(key(row)), number, row) for number, row in numbered))
        await asyncio.sleep(0)
    merged: Iterator[tuple[Key, int, Fields]] = heapq.merge(*map(_taken, runs))
    for count, (place, _, row) in enumerate(merged):
        if count % SLICE == 0:
            await asyncio.sleep(0)
        yield place, row


def _taken(run: list[T]) -> Iterator[T]:
    """Yield merged rows and free them at once, and not all of them at the end."""
    run.reverse()
    while run:
        yield run.pop()


def _comparable(key: Key) -> Key:
    """Return a key that compares: None comes before everything."""
    flat: list[Any] = []
    for value in key:
        flat += (False, 0) if value is None else (True, value)
    return tuple(flat)


def _ends(place: Key | None) -> bool:
    return zlib.crc32(repr(place).encode()) % ENDS == 0


def _digest(rows: Sequence[Fields]) -> str:
    text = json.dumps(rows, default=_moment, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _moment(value: object) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()
