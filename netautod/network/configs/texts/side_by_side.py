"""The diff of two texts as rows of two columns, with the section of each hunk and the words that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from netautod.network.configs.texts.diff import MOST_CHARACTERS, Lines, Step, hunks_of, size_of
from netautod.network.configs.texts.sections import enclosing
from netautod.network.configs.texts.word_diff import Range, changed_words, paired

Kind = Literal["same", "changed", "added", "removed"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of two columns. Numbers of lines count from 1; a side that has no line is None. Words are ranges
    of characters.

    A changed line without changed words differs in what is not shown.
    """

    kind: Kind
    old_line: int | None = None
    old_text: str | None = None
    new_line: int | None = None
    new_text: str | None = None
    old_words: Sequence[Range] = ()
    new_words: Sequence[Range] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "old_line": self.old_line,
            "old_text": self.old_text,
            "new_line": self.new_line,
            "new_text": self.new_text,
            "old_words": [list(word) for word in self.old_words],
            "new_words": [list(word) for word in self.new_words],
        }


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """A hunk of rows. `section`: the lines that enclose the first change of the hunk, the outermost first."""

    section: Sequence[str]
    rows: Sequence[Row]

    def to_json(self) -> dict[str, Any]:
        return {"section": list(self.section), "rows": [row.to_json() for row in self.rows]}


@dataclass(frozen=True, kw_only=True)
class SideBySide:
    """The diff in two columns. `hidden`: how many hunks are counted and not shown, because the diff is too
    long.
    """

    hunks: Sequence[Hunk]
    additions: int
    deletions: int
    hidden: int


def side_by_side(
    old: Lines, new: Lines, *, context: int, most_characters: int = MOST_CHARACTERS
) -> SideBySide:
    """Return the diff with so many lines of context around a change."""
    shown: list[Hunk] = []
    additions = deletions = length = hidden = 0
    for steps in hunks_of(old, new, context):
        changed = [step for step in steps if not step[4]]
        deletions += sum(step[1] - step[0] for step in changed)
        additions += sum(step[3] - step[2] for step in changed)
        size = sum(size_of(old, step[0], step[1]) + size_of(new, step[2], step[3]) for step in steps)
        if hidden or length + size > most_characters:
            hidden += 1
            continue
        length += size
        shown.append(Hunk(section=_section(changed[0], old, new), rows=list(_rows(steps, old, new))))
    return SideBySide(hunks=shown, additions=additions, deletions=deletions, hidden=hidden)


def _section(change: Step, old: Lines, new: Lines) -> list[str]:
    """Return the enclosing lines in the new text, or in the old one where the change only takes lines
    away."""
    old_start, _, new_start, new_end, _ = change
    side, at = (new, new_start) if new_end > new_start else (old, old_start)
    return [side.shown[above : above + 1][0] for above in enclosing(side.compared, at)]


def _rows(steps: Sequence[Step], old: Lines, new: Lines) -> Iterator[Row]:
    for step in steps:
        old_start, old_end, new_start, new_end, equal = step
        before, after = old.shown[old_start:old_end], new.shown[new_start:new_end]
        if not equal:
            yield from _changed(before, after, new.replacing(step), old_start + 1, new_start + 1)
            continue
        for number, (old_text, new_text) in enumerate(zip(before, after, strict=True)):
            yield Row(
                kind="same",
                old_line=old_start + 1 + number,
                old_text=old_text,
                new_line=new_start + 1 + number,
                new_text=new_text,
            )


def _changed(
    before: Sequence[str], after: Sequence[str], marked: Sequence[str], old_line: int, new_line: int
) -> Iterator[Row]:
    """Yield the rows of a replaced block; `marked` is what is shown of `after`, which decides on pairs."""
    for a, b in paired(before, after):
        if a is None and b is not None:
            yield Row(kind="added", new_line=new_line + b, new_text=marked[b])
        elif b is None and a is not None:
            yield Row(kind="removed", old_line=old_line + a, old_text=before[a])
        elif a is not None and b is not None:
            old_words, new_words = changed_words(before[a], marked[b])
            yield Row(
                kind="changed",
                old_line=old_line + a,
                old_text=before[a],
                new_line=new_line + b,
                new_text=marked[b],
                old_words=old_words,
                new_words=new_words,
            )
