"""Finds the route of a path: a walk along its segments, however many routes there are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(kw_only=True)
class _Place(Generic[T]):
    """A place in the table behind the segments so far."""

    literal: "dict[str, _Place[T]]" = field(default_factory=dict)
    parameter: "_Place[T] | None" = None
    target: T | None = None


class RouteTable(Generic[T]):
    """A table of targets by paths with `:name` segments, which stand for any text but an empty one."""

    def __init__(self) -> None:
        self._root: _Place[T] = _Place()

    def add(self, path: str, target: T) -> None:
        place = self._root
        for segment in path.split("/"):
            if segment.startswith(":"):
                place.parameter = place.parameter or _Place()
                place = place.parameter
            else:
                place = place.literal.setdefault(segment, _Place())
        place.target = target

    def find(self, path: str) -> tuple[T, list[str]] | None:
        """Return the target, and the segments that stand where it has parameters; None if no route matches.

        A literal segment goes before a parameter in the same place: /devices/browse before /devices/:id.
        """
        return self._behind(self._root, path.split("/"), 0)

    def _behind(self, place: _Place[T], segments: Sequence[str], at: int) -> tuple[T, list[str]] | None:
        if at == len(segments):
            return None if place.target is None else (place.target, [])
        segment, found = segments[at], None
        if (literal := place.literal.get(segment)) is not None:
            found = self._behind(literal, segments, at + 1)
        if found is None and segment and place.parameter is not None:
            found = self._behind(place.parameter, segments, at + 1)
            return None if found is None else (found[0], [segment, *found[1]])
        return found
