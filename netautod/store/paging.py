"""One page of a list: what was asked for, and what is answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


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
        """The envelope of decisions.md 1: `{<plural>: [...], total, limit, offset}`."""
        return {
            plural: [item_to_json(item) for item in self.items],
            "total": self.total,
            "limit": self.page.limit,
            "offset": self.page.offset,
        }
