"""The forms of allowed commands, as a graph of words.

A form is words with blanks between: `show ip|ipv6 route [vrf <name>] [<address>|summary]`. `a|b` is the one
word or the other, `<kind>` an argument of that kind (arguments.KINDS), also behind a fixed text
(`name=<name>`). `[...]` may be absent; within it `|` stands between all the words of each choice:
`[brief|interface <interface>]`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.read_only.arguments import KINDS

_TOKEN = re.compile(r"\[|\]|[^\s\[\]]+")
_WORD = re.compile(r"[A-Za-z0-9/*.:=,_@%+-]+")
_ARGUMENT = re.compile(r"([A-Za-z0-9/.:=,_~-]*)<([a-z]+)>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """An argument of a kind, behind a text that is part of the same word."""

    before: str
    kind: str

    def __str__(self) -> str:
        return f"{self.before}<{self.kind}>"


@dataclass(kw_only=True, eq=False, slots=True)
class Node:
    """A place in commands: what each word, and each argument, leads to. `ends`: a command may end here."""

    words: dict[str, list["Node"]] = field(default_factory=dict)
    arguments: dict[Argument, list["Node"]] = field(default_factory=dict)
    ends: bool = False


def graph_of(forms: Iterable[str]) -> Node:
    """Return the node where all commands begin. InvalidInput names the form that cannot be read."""
    root = Node()
    for form in forms:
        ends, rest = _Builder(form).behind([root], _tokens(form))
        if rest:
            raise InvalidInput(f"the form {form!r} has a bracket that nothing opens")
        if root in ends:
            raise InvalidInput(f"the form {form!r} has no word that must be there")
        for node in ends:
            node.ends = True
    return root


def _tokens(form: str) -> list[str]:
    """Return brackets, and what stands between; a `|` within brackets is a token, one outside is part of a
    word.
    """
    found: list[str] = []
    depth = 0
    for token in _TOKEN.findall(form):
        depth += (token == "[") - (token == "]")
        found += [piece for piece in re.split(r"([|])", token) if piece] if depth > 0 else [token]
    return found


@dataclass(frozen=True)
class _Builder:
    form: str

    def behind(self, starts: list[Node], tokens: Sequence[str]) -> tuple[list[Node], Sequence[str]]:
        """Return the nodes behind the tokens up to the bracket that closes, and the tokens from there on."""
        nodes, others = starts, list[Node]()
        while tokens and tokens[0] != "]":
            token, tokens = tokens[0], tokens[1:]
            if token == "[":
                inside, tokens = self.behind(nodes, tokens)
                if not tokens:
                    raise InvalidInput(f"the form {self.form!r} has a bracket that does not close")
                tokens, nodes = tokens[1:], [*nodes, *inside]
            elif token == "|" and nodes is not starts:
                others, nodes = [*others, *nodes], starts
            else:
                nodes = [self._linked(nodes, token)]
        if nodes is starts:
            raise InvalidInput(f"the form {self.form!r} has nothing where a word must be")
        return [*others, *nodes], tokens

    def _linked(self, nodes: Sequence[Node], token: str) -> Node:
        """Return a new node behind all these, which each of the token's words leads to."""
        new = Node()
        for item in token.split("|"):
            argument = self._argument(item)
            for node in nodes:
                if argument is None:
                    node.words.setdefault(item, []).append(new)
                else:
                    node.arguments.setdefault(argument, []).append(new)
        return new

    def _argument(self, item: str) -> Argument | None:
        """Return the argument of the form, or None for a word."""
        found = _ARGUMENT.fullmatch(item)
        known = _WORD.fullmatch(item) is not None if found is None else found[2] in KINDS
        if not known:
            raise InvalidInput(f"the form {self.form!r}: {item!r} is neither a word nor an argument")
        return None if found is None else Argument(before=found[1], kind=found[2])
