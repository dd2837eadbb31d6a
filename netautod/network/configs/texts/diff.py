"""The unified diff of two texts, in a time that is bounded however little they have in common.

Common lines at both ends are set aside, then lines that occur exactly once on both sides are matched in
their order (Bram Cohen, "Patience Diff Advantages"), and what is left between two of them is small enough
for difflib. Two texts of 40,000 lines with a hundred scattered changes take some 25 ms of a thread; difflib
alone takes half a minute, since its cost grows with the square of the equal lines (`!`).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Protocol

CONTEXT = 3
# Above this product of lines a piece without any anchor is shown as replaced: difflib is quadratic.
MOST_PAIRS = 40_000

# Of the diff's text. What is beyond is counted, not shown: no one reads 40,000 changed lines, and a text of
# 16 MiB would block the event loop when it is answered.
MOST_CHARACTERS = 4 << 20

DEEPEST = 40  # of nested pieces: each has the cost of its lines again

Match = tuple[int, int, int]  # position in old, position in new, number of equal lines
Step = tuple[int, int, int, int, bool]  # old from and to, new from and to, whether they are equal


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A diff: `text` is empty for equal texts; additions and deletions are counted in lines, shown or not."""

    text: str
    additions: int
    deletions: int


class Sliceable(Protocol):
    def __getitem__(self, part: slice, /) -> Sequence[str]: ...


@dataclass(frozen=True, kw_only=True)
class Lines:
    """A text by lines: `compared` decides what is equal, `shown` is what a reader sees of each line.

    So a secret can differ without being shown. Both have the same length. `marked`, of a new text, is what a
    reader sees of the lines that a step puts in the place of old ones.
    """

    compared: Sequence[str]
    shown: Sliceable
    marked: Callable[[Step], Sequence[str]] | None = None

    def replacing(self, step: Step) -> Sequence[str]:
        """Return what a reader sees of this text's lines that replace old ones."""
        return self.shown[step[2] : step[3]] if self.marked is None else self.marked(step)


def unified(
    old: Lines,
    new: Lines,
    *,
    old_name: str,
    new_name: str,
    context: int = CONTEXT,
    most_characters: int = MOST_CHARACTERS,
) -> Difference:
    """Return the diff in the form of POSIX `diff -u`, without times in its head.

    Hunks from the first one on that does not fit into `most_characters` are left out, and a line says so.
    """
    output: list[str] = []
    additions = deletions = length = hidden = 0
    for hunk in hunks_of(old, new, context):
        changed = [step for step in hunk if not step[4]]
        deletions += sum(step[1] - step[0] for step in changed)
        additions += sum(step[3] - step[2] for step in changed)
        size = sum(size_of(old, step[0], step[1]) for step in changed)
        size += sum(size_of(new, step[2], step[3]) for step in hunk)
        if hidden or length + size > most_characters:
            hidden += 1
            continue
        length += size
        output += _written(hunk, old, new)
    if not output and not hidden:
        return Difference(text="", additions=0, deletions=0)
    if hidden:
        # To programs such as patch(1) a line that begins with a backslash is a remark.
        output.append(f"\\ The diff is too long: {hidden} more hunks are not shown")
    text = "\n".join((f"--- {old_name}", f"+++ {new_name}", *output, ""))
    return Difference(text=text, additions=additions, deletions=deletions)


def size_of(lines: Lines, start: int, end: int) -> int:
    """Return the size in characters, with the line ends and the marks of a diff."""
    return sum(len(line) + 2 for line in lines.compared[start:end])


def _written(hunk: Sequence[Step], old: Lines, new: Lines) -> list[str]:
    first, last = hunk[0], hunk[-1]
    written = [f"@@ -{_range(first[0], last[1])} +{_range(first[2], last[3])} @@"]
    for step in hunk:
        old_start, old_end, new_start, new_end, equal = step
        if equal:
            written += [f" {line}" for line in new.shown[new_start:new_end]]
            continue
        written += [f"-{line}" for line in old.shown[old_start:old_end]]
        written += [f"+{line}" for line in new.replacing(step)]
    return written


def matches(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return the runs of equal lines, in order and without overlap, adjacent ones joined."""
    joined: list[Match] = []
    for a, b, size in _between(old, new, 0, len(old), 0, len(new)):
        if joined:
            before_a, before_b, before = joined[-1]
            if before_a + before == a and before_b + before == b:
                joined[-1] = (before_a, before_b, before + size)
                continue
        joined.append((a, b, size))
    return joined


def _between(
    old: Sequence[str], new: Sequence[str], a: int, a_end: int, b: int, b_end: int, depth: int = 0
) -> Iterator[Match]:
    """Yield the matches within old[a:a_end] and new[b:b_end]."""
    head = 0
    while a + head < a_end and b + head < b_end and old[a + head] == new[b + head]:
        head += 1
    if head:
        yield a, b, head
    a, b = a + head, b + head
    tail = 0
    while a < a_end - tail and b < b_end - tail and old[a_end - tail - 1] == new[b_end - tail - 1]:
        tail += 1
    a_end, b_end = a_end - tail, b_end - tail
    if a < a_end and b < b_end:
        anchors = _anchors(old, new, a, a_end, b, b_end) if depth < DEEPEST else []
        if anchors:
            for anchor_a, anchor_b in anchors:
                yield from _between(old, new, a, anchor_a, b, anchor_b, depth + 1)
                yield anchor_a, anchor_b, 1
                a, b = anchor_a + 1, anchor_b + 1
            yield from _between(old, new, a, a_end, b, b_end, depth + 1)
        elif (a_end - a) * (b_end - b) <= MOST_PAIRS:
            matcher = SequenceMatcher(None, old[a:a_end], new[b:b_end], autojunk=False)
            yield from ((a + m.a, b + m.b, m.size) for m in matcher.get_matching_blocks() if m.size)
    if tail:
        yield a_end, b_end, tail


def _anchors(
    old: Sequence[str], new: Sequence[str], a: int, a_end: int, b: int, b_end: int
) -> list[tuple[int, int]]:
    """Return lines that occur once on both sides, thinned out to the longest sequence that rises in both."""
    in_old, in_new = Counter(old[a:a_end]), Counter(new[b:b_end])
    places = {line: at for at, line in enumerate(new[b:b_end], b) if in_new[line] == 1}
    pairs = [
        (at, places[line]) for at, line in enumerate(old[a:a_end], a) if in_old[line] == 1 and line in places
    ]
    # Longest increasing subsequence by patience sorting: `ends` holds the smallest end of each length.
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):
        length = bisect_left(ends, at)
        ends[length : length + 1] = [at]
        tails[length : length + 1] = [number]
        before.append(tails[length - 1] if length else -1)
    rising: list[tuple[int, int]] = []
    number = tails[-1] if tails else -1
    while number >= 0:
        rising.append(pairs[number])
        number = before[number]
    return rising[::-1]


def _steps(found: Sequence[Match], old_length: int, new_length: int) -> list[Step]:
    """Return changes and equal runs in turn, from the beginning to the end of both texts."""
    steps: list[Step] = []
    a = b = 0
    for match_a, match_b, size in (*found, (old_length, new_length, 0)):
        if match_a > a or match_b > b:
            steps.append((a, match_a, b, match_b, False))
        a, b = match_a + size, match_b + size
        if size:
            steps.append((match_a, a, match_b, b, True))
    return steps


def hunks_of(old: Lines, new: Lines, context: int) -> Iterator[list[Step]]:
    """Yield changes with their context; two changes closer than twice the context share a hunk."""
    found = matches(old.compared, new.compared)
    steps = _steps(found, len(old.compared), len(new.compared))
    hunk: list[Step] = []
    for number, step in enumerate(steps, 1):
        a, a_end, b, b_end, equal = step
        size, more = a_end - a, number < len(steps)
        if not equal or (hunk and more and size <= 2 * context):
            hunk.append(step)
            continue
        if hunk:
            kept = min(size, context)
            yield [*hunk, *([(a, a + kept, b, b + kept, True)] if kept else [])]
        lead = min(size, context)
        hunk = [(a_end - lead, a_end, b_end - lead, b_end, True)] if more and lead else []
    if hunk:
        yield hunk


def _range(start: int, end: int) -> str:
    """Return a range of lines as POSIX `diff -u` writes it: an empty one names the line before it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
