"""A diff as a page shows it: a piece of it of a bounded number of elements, in one column or in two. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from netautod.console.base.words import counted
from netautod.network.configs.texts.side_by_side import Hunk, Row, SideBySide
from netautod.network.configs.texts.word_diff import Range

MOST_ELEMENTS = 2_300
LONGEST_LINE = 2_000  # characters that are shown of a line
MOST_WORDS = 6  # that are marked in a line; those beyond are marked as one
# Elements of a row and of the head of a hunk, in the templates.
ROW, MARKED, HEAD = 5, 2, 8
Entry = tuple[int, str, Row]
"""The number of a hunk, what is shown of a row (`both`, `old` or `new`), and the row."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    text: str
    marked: bool


@dataclass(frozen=True, kw_only=True)
class Side:
    line: int
    pieces: Sequence[Piece]


@dataclass(frozen=True, kw_only=True)
class ShownRow:
    kind: str
    old: Side | None
    new: Side | None


@dataclass(frozen=True, kw_only=True)
class ShownHunk:
    """A change of a diff.

    `number` counts from 1; `section` holds the lines around the change; `continued`: the change starts on the
    page before.
    """

    number: int
    section: str
    continued: bool
    rows: Sequence[ShownRow]


@dataclass(frozen=True, kw_only=True)
class DiffPiece:
    """A piece of a diff.

    `before` and `after` are the offsets of the neighboring pieces, in rows; `total` counts hunks.
    """

    hunks: Sequence[ShownHunk]
    before: int | None
    after: int | None
    total: int


def piece_of(found: SideBySide, *, columns: bool, offset: int = 0) -> DiffPiece:
    """Return the piece that holds the row `offset`; the last piece for an offset beyond the end."""
    entries = [
        (number, what, row)
        for number, hunk in enumerate(found.hunks, 1)
        for what, row in (_columns(hunk) if columns else _one_column(hunk))
    ]
    starts = _starts(entries)
    place = max((at for at, start in enumerate(starts) if start <= offset), default=0)
    start = starts[place]
    end = starts[place + 1] if place + 1 < len(starts) else len(entries)
    first_hunk = entries[start - 1][0] if start else 0
    return DiffPiece(
        hunks=[
            _shown(found.hunks[number - 1], number, [*rows], continued=number == first_hunk)
            for number, rows in groupby(entries[start:end], key=lambda entry: entry[0])
        ],
        before=starts[place - 1] if place else None,
        after=end if end < len(entries) else None,
        total=len(found.hunks) + found.hidden,
    )


def _columns(hunk: Hunk) -> Iterator[tuple[str, Row]]:
    return (("both", row) for row in hunk.rows)


def _one_column(hunk: Hunk) -> Iterator[tuple[str, Row]]:
    """Yield the rows with, for each change, the old lines before the new ones."""
    for same, rows in groupby(hunk.rows, key=lambda row: row.kind == "same"):
        block = list(rows)
        if same:
            yield from (("both", row) for row in block)
        else:
            yield from (("old", row) for row in block if row.old_line is not None)
            yield from (("new", row) for row in block if row.new_line is not None)


def _starts(entries: Sequence[Entry]) -> list[int]:
    starts, elements, hunk = [0], 0, 0
    for at, (number, _, row) in enumerate(entries):
        marked = min(len(row.old_words), MOST_WORDS) + min(len(row.new_words), MOST_WORDS)
        size = ROW + marked + (MARKED if row.kind == "changed" else 0) + (HEAD if number != hunk else 0)
        if at > starts[-1] and elements + size > MOST_ELEMENTS:
            starts.append(at)
            elements = 0
        elements, hunk = elements + size, number
    return starts


def _shown(hunk: Hunk, number: int, entries: Sequence[Entry], *, continued: bool) -> ShownHunk:
    return ShownHunk(
        number=number,
        section=" \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(
            line.strip()[:LONGEST_LINE] for line in hunk.section
        ),
        continued=continued,
        rows=[_row(what, row) for _, what, row in entries],
    )


def _row(what: str, row: Row) -> ShownRow:
    old = None if what == "new" else _side(row.old_line, row.old_text, row.old_words)
    new = None if what == "old" else _side(row.new_line, row.new_text, row.new_words)
    kind = {"both": row.kind, "old": "removed", "new": "added"}[what]
    return ShownRow(kind=kind, old=old, new=new)


def _side(line: int | None, text: str | None, words: Sequence[Range]) -> Side | None:
    return None if line is None or text is None else Side(line=line, pieces=list(_pieces(text, words)))


def _pieces(text: str, words: Sequence[Range]) -> Iterator[Piece]:
    shown = text[:LONGEST_LINE].replace("\r", "\N{SYMBOL FOR CARRIAGE RETURN}")
    if len(words) > MOST_WORDS:
        words = [*words[: MOST_WORDS - 1], (words[MOST_WORDS - 1][0], words[-1][1])]
    at = 0
    for start, end in words:
        if start > at:
            yield Piece(text=shown[at:start], marked=False)
        if start < len(shown):
            yield Piece(text=shown[start:end], marked=True)
        at = end
    if at < len(shown):
        yield Piece(text=shown[at:], marked=False)
    if len(text) > LONGEST_LINE:
        yield Piece(
            text=f" \N{HORIZONTAL ELLIPSIS} {counted(len(text) - LONGEST_LINE, 'more character')}",
            marked=False,
        )
