"""The search for the words of a command in a graph of forms, which reports where a command leaves it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netautod.transport.ssh.read_only.arguments import matches, takes_two
from netautod.transport.ssh.read_only.forms import Argument, Node

_MOST_NAMED = 12  # words, in a reason


class Refused(Exception):
    """Raised with the reason, in words for an operator; `place` is that of the word."""

    def __init__(self, reason: str, *, place: int = 0) -> None:
        super().__init__(reason)
        self.place = place


def full_words(root: Node, words: Sequence[str], *, exact: bool) -> list[str]:
    """Return the words as the forms write them; Refused for words that match no form."""
    if not words:
        raise Refused("a command is missing")
    # One letter says too little: behind it devices have words that change something.
    if not exact and len(words[0].lstrip("/")) < 2:
        raise Refused(f"{words[0]!r} is too short for a command")
    return _Search(words=words, exact=exact).behind(_Place([root]), 0)


def full_filter(root: Node, words: Sequence[str], *, exact: bool) -> list[str]:
    """Return the full form of what stands behind a `|`, where one letter is usual (`| i`) and nothing
    changes.
    """
    if not words:
        raise Refused("a filter is missing behind the |")
    try:
        return _Search(words=words, exact=exact).behind(_Place([root]), 0)
    except Refused as refused:
        raise Refused(f"behind the |: {refused}", place=refused.place) from refused


class _Place:
    """The place after some words: the nodes of every form that is still possible."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.words: dict[str, list[Node]] = {}
        self.arguments: dict[Argument, list[Node]] = {}
        self.ends = False
        for node in dict.fromkeys(nodes):
            self.ends = self.ends or node.ends
            for word, following in node.words.items():
                self.words[word] = [*self.words.get(word, ()), *following]
            for argument, following in node.arguments.items():
                self.arguments[argument] = [*self.arguments.get(argument, ()), *following]

    def instead(self) -> str:
        """Return the words that are allowed here, as the end of a sentence that gives a reason."""
        allowed = sorted([*self.words, *map(str, self.arguments)])
        more = ", ..." if len(allowed) > _MOST_NAMED else ""
        return f"; allowed: {', '.join(allowed[:_MOST_NAMED])}{more}" if allowed else ""


@dataclass(frozen=True, kw_only=True)
class _Search:
    words: Sequence[str]
    exact: bool

    def behind(self, place: _Place, at: int) -> list[str]:
        """Return the words from that one on in full."""
        if at == len(self.words):
            if place.ends:
                return []
            raise Refused(f"`{' '.join(self.words)}` is not whole{place.instead()}", place=at)
        # A word of the forms is never taken for an argument, and neither is what may abbreviate one: on the
        # device it would be that word.
        candidates = self._keywords(place, at)
        if candidates:
            return self._one_of(candidates, place, at)
        furthest: Refused | None = None
        for taken, nodes in self._arguments(place, at):
            try:
                return [*self.words[at : at + taken], *self.behind(_Place(nodes), at + taken)]
            except Refused as refused:
                if furthest is None or refused.place > furthest.place:
                    furthest = refused
        raise furthest or Refused(self._no_way(place, at), place=at)

    def _one_of(self, candidates: Sequence[str], place: _Place, at: int) -> list[str]:
        """Choose the meaning of an abbreviation by what stands behind it (`sh vl br`); Refused if that is
        ambiguous.
        """
        found: list[list[str]] = []
        problems: list[Refused] = []
        for full in candidates:
            try:
                found.append([full, *self.behind(_Place(place.words[full]), at + 1)])
            except Refused as refused:
                problems.append(refused)
        if len(found) == 1:
            return found[0]
        if len(candidates) == 1:
            raise problems[0]
        reason = f"{self.words[at]!r} is ambiguous: {', '.join(candidates[:_MOST_NAMED])}"
        raise Refused(reason, place=at)

    def _keywords(self, place: _Place, at: int) -> list[str]:
        """Return the words of the forms that may stand or be abbreviated there."""
        word = self.words[at]
        if self.exact:
            return [word] if word in place.words else []
        low = word.lower()
        candidates = sorted(full for full in place.words if full.lower().startswith(low))
        same = [full for full in candidates if len(full) == len(low)]
        # Words that differ in case only are several at a few vendors: the one as it was written first.
        return [word] if word in same else same[:1] or candidates

    def _arguments(self, place: _Place, at: int) -> list[tuple[int, list[Node]]]:
        """Return how many words an argument takes there, and what comes behind it."""
        word, following = self.words[at], "".join(self.words[at + 1 : at + 2])
        one: list[Node] = []
        two: list[Node] = []
        for argument, nodes in place.arguments.items():
            if word.startswith(argument.before) and matches(
                argument.kind, word.removeprefix(argument.before)
            ):
                one += nodes
            elif not argument.before and takes_two(argument.kind, word, following):
                two += nodes
        return [(taken, nodes) for taken, nodes in ((1, one), (2, two)) if nodes]

    def _no_way(self, place: _Place, at: int) -> str:
        where = f"behind `{' '.join(self.words[:at])}`" if at else "at the beginning"
        return f"{self.words[at]!r} is not allowed {where}{place.instead()}"
