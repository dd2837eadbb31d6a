"""One page of a list: the window that was requested, and its items."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
# So many rows are read or converted in a millisecond or two.
SLICE = 100


@dataclass(frozen=True, kw_only=True)
class Page:
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, kw_only=True)
class PageOf(Generic[T]):
    """The items of one page and how many there are on all pages."""

    items: Sequence[T]
    total: int
    page: Page

    def to_json(self, plural: str, item_to_json: Callable[[T], Any]) -> dict[str, Any]:
        """Return `{<plural>: [...], total, limit, offset}`."""
        return self._envelope(plural, [item_to_json(item) for item in self.items])

    async def to_json_in_turns(self, plural: str, item_to_json: Callable[[T], Any]) -> dict[str, Any]:
        """Return the same for a page of up to a thousand items, and let the event loop run meanwhile."""
        return self._envelope(plural, await in_turns(item_to_json, self.items))

    def _envelope(self, plural: str, items: list[Any]) -> dict[str, Any]:
        return {plural: items, "total": self.total, "limit": self.page.limit, "offset": self.page.offset}


async def in_turns(convert: Callable[[T], R], rows: Sequence[T]) -> list[R]:
    """Convert the rows slice by slice; between two slices the event loop serves others."""
    made: list[R] = []
    for start in range(0, len(rows), SLICE):
        if start:
            await asyncio.sleep(0)
        made += [convert(row) for row in rows[start : start + SLICE]]
    return made
