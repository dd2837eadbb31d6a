"""Differences within lines: changed words, and the lines of two blocks that are versions of one another."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

Range = tuple[int, int]
Pair = tuple[int | None, int | None]

# A name, a number or an address with its dots and slashes is one word to a reader.
_WORD = re.compile(r"\s+|[\w.:/-]+|.", re.DOTALL)
MOST_WORDS = 2_000  # of one line: beyond, the whole of it counts as changed
ALIKE = 0.5  # of the words of two lines are the same, for one to count as the other, changed
MOST_PAIRS = 10_000  # of lines that are looked at for likeness; larger blocks are replaced as a whole


def changed_words(old: str, new: str) -> tuple[list[Range], list[Range]]:
    """Return the parts of each line that the other lacks, as [from, to) in characters; adjacent ones
    joined."""
    at = _common_indent(old, new)  # set aside: a blank of it is none between two words
    old_words, new_words = _WORD.findall(old, at), _WORD.findall(new, at)
    if max(len(old_words), len(new_words)) > MOST_WORDS:
        return [(0, len(old))], [(0, len(new))]
    steps = SequenceMatcher(None, old_words, new_words, autojunk=False).get_opcodes()
    differing = [step for step in steps if step[0] != "equal"]
    return (
        [_range(old_words, start, end, at) for _, start, end, _, _ in differing if start < end],
        [_range(new_words, start, end, at) for _, _, _, start, end in differing if start < end],
    )


def _common_indent(old: str, new: str) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b or not a.isspace()), min(len(old), len(new)))


def _range(words: Sequence[str], start: int, end: int, at: int) -> Range:
    before = at + sum(map(len, words[:start]))
    return before, before + sum(map(len, words[start:end]))


def paired(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Return both blocks in their order: a line with the one that it became, or alone if it became none.

    The pairs are those with the most likeness together (an alignment as of Needleman and Wunsch).
    """
    if len(old) * len(new) > MOST_PAIRS:
        return [*((at, None) for at in range(len(old))), *((None, at) for at in range(len(new)))]
    gains = _gains(old, new)
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for a in range(len(old) - 1, -1, -1):
        for b in range(len(new) - 1, -1, -1):
            both = best[a + 1][b + 1] + gains[a][b] if gains[a][b] else 0.0
            best[a][b] = max(best[a + 1][b], best[a][b + 1], both)
    pairs: list[Pair] = []
    a = b = 0
    while a < len(old) and b < len(new):
        if gains[a][b] and best[a][b] == best[a + 1][b + 1] + gains[a][b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif best[a][b] == best[a + 1][b]:
            pairs.append((a, None))
            a += 1
        else:
            pairs.append((None, b))
            b += 1
    return [*pairs, *((at, None) for at in range(a, len(old))), *((None, at) for at in range(b, len(new)))]


def _gains(old: Sequence[str], new: Sequence[str]) -> list[list[float]]:
    """Return how alike each line is to each, from 0 to 1; 0 for lines that are too different to be a pair."""
    old_words, new_words = [_counted(line) for line in old], [_counted(line) for line in new]
    return [[_likeness(one, other) for other in new_words] for one in old_words]


def _counted(line: str) -> Counter[str]:
    return Counter(line.split()[:MOST_WORDS])


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    total = old.total() + new.total()
    if not total:
        return 1.0
    alike = 2 * (old & new).total() / total
    return alike if alike >= ALIKE else 0.0
