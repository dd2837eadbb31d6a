"""The entries that listeners have not been sent yet: kept once for all of them, each at its own position."""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Journal(Generic[T]):
    """The newest entries, numbered from 0 on; over `most` of them, or `most_bytes`, the oldest go.

    A listener that has not read those was too slow: `at` raises IndexError for it.
    """

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._entries: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self.first = 0

    @property
    def end(self) -> int:
        """Return the number of the next entry."""
        return self.first + len(self._entries)

    def add(self, entry: T, size: int) -> None:
        self._entries.append((entry, size))
        self._bytes += size
        while len(self._entries) > self._most or self._bytes > self._most_bytes:
            self._drop()

    def forget(self, before: int) -> None:
        """Drop the entries before that number: all listeners have read them."""
        while self._entries and self.first < before:
            self._drop()

    def at(self, number: int) -> T | None:
        """Return the entry of that number; None where there is none yet. Raises IndexError if it is gone."""
        if number < self.first:
            raise IndexError(number)
        return None if number >= self.end else self._entries[number - self.first][0]

    def _drop(self) -> None:
        self._bytes -= self._entries.popleft()[1]
        self.first += 1
