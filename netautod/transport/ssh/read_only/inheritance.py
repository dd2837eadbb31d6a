"""The inheritance of grammars: a platform gets the forms of the platforms that its `like` names."""

from collections.abc import Mapping

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.read_only.grammar import ReadOnlyGrammar


def with_inherited_forms(name: str, grammars: Mapping[str, ReadOnlyGrammar]) -> ReadOnlyGrammar:
    """Return the grammar of the platform `name`, with the forms of the platforms that its `like` names.

    InvalidInput for a platform that does not exist, and for a circle.
    """
    grammar, passed = grammars[name], [name]
    while grammar.like is not None:
        passed.append(grammar.like)
        if grammar.like in passed[:-1]:
            raise InvalidInput(f"[read_only] like goes in a circle: {' -> '.join(passed)}")
        base = grammars.get(grammar.like)
        if base is None:
            raise InvalidInput(f"[read_only] like names no platform: {grammar.like!r}")
        grammar = grammar.over(base)
    return grammar
