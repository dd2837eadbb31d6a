"""The inheritance of grammars: a platform gets the forms of the platforms that its `like` names."""

from collections.abc import Mapping
from typing import Protocol, Self, TypeVar

from netautod.core.errors import InvalidInput


class Inheriting(Protocol):
    """A grammar of one platform that names another one whose forms are allowed as well."""

    @property
    def like(self) -> str | None: ...

    def over(self, base: Self) -> Self: ...


Grammar = TypeVar("Grammar", bound=Inheriting)


def with_inherited_forms(
    name: str, grammars: Mapping[str, Grammar], *, table: str = "[read_only]"
) -> Grammar:
    """Return the grammar of the platform `name`, with the forms of the platforms that its `like` names.

    InvalidInput for a platform that does not exist, and for a circle; `table` is where `like` stands.
    """
    grammar, passed = grammars[name], [name]
    while grammar.like is not None:
        passed.append(grammar.like)
        if grammar.like in passed[:-1]:
            raise InvalidInput(f"{table} like goes in a circle: {' -> '.join(passed)}")
        base = grammars.get(grammar.like)
        if base is None:
            raise InvalidInput(f"{table} like names no platform: {grammar.like!r}")
        grammar = grammar.over(base)
    return grammar
