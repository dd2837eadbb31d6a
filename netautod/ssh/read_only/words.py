"""Finds the words of a command in a tree of forms, and says where a command leaves it."""

from collections.abc import Sequence

from netautod.ssh.read_only.arguments import matches, takes_two
from netautod.ssh.read_only.forms import Node

_MOST_NAMED = 12  # words, in a reason


class Refused(Exception):
    """With the reason, in words for an operator."""

    def __init__(self, reason: str, *, place: int = 0) -> None:
        super().__init__(reason)
        self.place = place


def full_words(root: Node, words: Sequence[str], *, exact: bool) -> list[str]:
    """The words as the forms write them; Refused for those that match no form."""
    if not words:
        raise Refused("a command is missing")
    # One letter says too little: behind it devices have words that change something.
    if not exact and len(words[0].lstrip("/")) < 2:
        raise Refused(f"{words[0]!r} is too short for a command")
    return _from(root, words, 0, exact=exact)


def full_filter(root: Node, words: Sequence[str], *, exact: bool) -> list[str]:
    """The same for what stands behind a `|`, where one letter is usual (`| i`) and nothing changes."""
    if not words:
        raise Refused("a filter is missing behind the |")
    try:
        return _from(root, words, 0, exact=exact)
    except Refused as refused:
        raise Refused(f"behind the |: {refused}", place=refused.place) from refused


def _from(node: Node, words: Sequence[str], place: int, *, exact: bool) -> list[str]:
    if place == len(words):
        if node.ends:
            return []
        raise Refused(f"`{' '.join(words)}` is not whole{_instead(node)}", place=place)
    word = words[place]
    # A word of the forms is never taken for an argument, and neither is what may abbreviate one: on the
    # device it would be that word.
    full = _keyword(node, words, place, exact=exact)
    if full is not None:
        return [full, *_from(node.words[full], words, place + 1, exact=exact)]
    furthest: Refused | None = None
    for argument, below in node.arguments.values():
        rest, following = word.removeprefix(argument.before), "".join(words[place + 1 : place + 2])
        taken = 0
        if word.startswith(argument.before) and matches(argument.kind, rest):
            taken = 1
        elif not argument.before and takes_two(argument.kind, word, following):
            taken = 2
        if taken:
            try:
                return [*words[place : place + taken], *_from(below, words, place + taken, exact=exact)]
            except Refused as refused:
                if furthest is None or refused.place > furthest.place:
                    furthest = refused
    raise furthest or Refused(_no_way(node, words, place), place=place)


def _keyword(node: Node, words: Sequence[str], place: int, *, exact: bool) -> str | None:
    """The word of the forms that stands there, or is abbreviated there; Refused where there are several."""
    word = words[place]
    if exact:
        return word if word in node.words else None
    low = word.lower()
    same = next((full for full in node.words if full.lower() == low), None)
    if same is not None:
        return same
    begun = [full for full in node.words if full.lower().startswith(low)]
    if len(begun) > 1:
        raise Refused(f"{word!r} is ambiguous: {', '.join(sorted(begun)[:_MOST_NAMED])}", place=place)
    return begun[0] if begun else None


def _no_way(node: Node, words: Sequence[str], place: int) -> str:
    where = f"behind `{' '.join(words[:place])}`" if place else "at the beginning"
    return f"{words[place]!r} is not allowed {where}{_instead(node)}"


def _instead(node: Node) -> str:
    named = node.allowed[:_MOST_NAMED]
    more = ", ..." if len(node.allowed) > _MOST_NAMED else ""
    return f"; allowed: {', '.join(named)}{more}" if named else ""
