"""The rows of a table cut into parts, at the same places again while the rows are the same.

Rows are in the order of their keys, and a part ends behind a key whose checksum says so. So a row that comes
or goes changes one part, and all others need not be written again.
"""

import asyncio
import heapq
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

Fields = dict[str, Any]
Key = tuple[Any, ...]
SLICE = 1000  # rows that are sorted or looked at without a pause
ENDS = 256  # one key of so many ends a part
MOST_ROWS = 1024  # of one part


@dataclass(frozen=True, kw_only=True)
class Part:
    """`digest` tells parts with other rows apart."""

    rows: list[Fields]
    digest: str


async def parts_of(rows: Sequence[Fields], key: Callable[[Fields], Key]) -> list[Part]:
    """In the order of the keys; no two rows with one key, the later one counts."""
    parts: list[Part] = []
    current: list[Fields] = []
    async for row in _ordered(rows, key):
        if current and key(current[-1]) == key(row):
            current[-1] = row
            continue
        if current and (len(current) >= MOST_ROWS or _ends(key(current[-1]))):
            parts.append(Part(rows=current, digest=_digest(current)))
            current = []
            await asyncio.sleep(0)
        current.append(row)
    if current:
        parts.append(Part(rows=current, digest=_digest(current)))
    return parts


async def _ordered(rows: Sequence[Fields], key: Callable[[Fields], Key]) -> AsyncIterator[Fields]:
    """Sorted in slices: one sort of 50,000 rows would hold the loop for its whole time."""
    runs: list[list[tuple[Key, int, Fields]]] = []
    for start in range(0, len(rows), SLICE):
        numbered = enumerate(rows[start : start + SLICE], start)
        runs.append(sorted((_comparable(key(row)), number, row) for number, row in numbered))
        await asyncio.sleep(0)
    merged: Iterator[tuple[Key, int, Fields]] = heapq.merge(*runs)
    for count, (_, _, row) in enumerate(merged):
        if count % SLICE == 0:
            await asyncio.sleep(0)
        yield row


def _comparable(key: Key) -> Key:
    """None comes before everything."""
    return tuple((value is not None, value if value is not None else 0) for value in key)


def _ends(key: Key) -> bool:
    return zlib.crc32(repr(key).encode()) % ENDS == 0


def _digest(rows: Sequence[Fields]) -> str:
    text = json.dumps(rows, default=_moment, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _moment(value: object) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()
