"""A long sequence in batches, each small enough for one round trip to the database."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def in_batches(values: Iterable[T], size: int) -> list[list[T]]:
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]
