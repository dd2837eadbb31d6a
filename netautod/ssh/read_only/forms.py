"""The forms of allowed commands, as a tree of words.

A form is words with blanks between: `show ip route [vrf <name>] [<address>|summary]`. `a|b` is the one or the
other, `<kind>` an argument of that kind (arguments.KINDS), also behind a fixed text (`name=<name>`), and
`[...]` may be absent.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from netautod.core.errors import InvalidInput
from netautod.ssh.read_only.arguments import KINDS

_TOKEN = re.compile(r"\[|\]|[^\s\[\]]+")
_WORD = re.compile(r"[A-Za-z0-9/*.:=,_@+-]+")
_ARGUMENT = re.compile(r"([A-Za-z0-9/.:=,_-]*)<([a-z]+)>")
MOST_ENDS = 256  # of one form, by what may be absent and what may stand instead


@dataclass(frozen=True, kw_only=True, eq=False)
class Argument:
    """An argument of a kind, behind a text that is part of the same word."""

    before: str
    kind: str


@dataclass(kw_only=True, eq=False)
class Node:
    """What may come next: words, and arguments by their form. `ends`: the command may end here."""

    words: dict[str, "Node"] = field(default_factory=dict)
    arguments: dict[str, tuple[Argument, "Node"]] = field(default_factory=dict)
    ends: bool = False

    def below(self, form: str, item: str) -> "Node":
        """The node behind one word of a form, made where there is none yet."""
        found = _ARGUMENT.fullmatch(item)
        if found is not None and found[2] in KINDS:
            argument = Argument(before=found[1], kind=found[2])
            return self.arguments.setdefault(item, (argument, Node()))[1]
        if _WORD.fullmatch(item) is None:
            raise InvalidInput(f"the form {form!r}: {item!r} is neither a word nor an argument")
        return self.words.setdefault(item, Node())

    @property
    def allowed(self) -> list[str]:
        """What may come next, as the forms write it."""
        return sorted([*self.words, *self.arguments])


def tree_of(forms: Iterable[str]) -> Node:
    """InvalidInput names the form that cannot be read."""
    root = Node()
    for form in forms:
        ends, rest = _add([root], form, _TOKEN.findall(form))
        if rest:
            raise InvalidInput(f"the form {form!r} has a bracket that nothing opens")
        if root in ends:
            raise InvalidInput(f"the form {form!r} has no word that must be there")
        for node in ends:
            node.ends = True
    return root


def _add(starts: list[Node], form: str, tokens: Sequence[str]) -> tuple[list[Node], Sequence[str]]:
    """The nodes behind the tokens up to the bracket that closes, and the tokens from there on."""
    nodes = starts
    while tokens and tokens[0] != "]":
        token, tokens = tokens[0], tokens[1:]
        if token == "[":
            inside, tokens = _add(nodes, form, tokens)
            if not tokens or inside is nodes:
                raise InvalidInput(f"the form {form!r} has a bracket that is empty or does not close")
            tokens, nodes = tokens[1:], [*nodes, *inside]
        else:
            nodes = [node.below(form, item) for node in nodes for item in token.split("|")]
        if len(nodes) > MOST_ENDS:
            raise InvalidInput(f"the form {form!r} has too many variants")
    return nodes, tokens
