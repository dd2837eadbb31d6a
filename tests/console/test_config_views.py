"""Texts with numbers and pieces of diffs, as values: what the pages of configs show."""

import re
from itertools import pairwise

import pytest

from netautod.console.configs import changes
from netautod.console.configs import numbering as numbered
from netautod.console.configs.changes import DiffPiece, ShownRow, Side, piece_of
from netautod.console.configs.numbering import NumberedText
from netautod.network.configs.texts.diff import Lines
from netautod.network.configs.texts.side_by_side import SideBySide, side_by_side


def numbers(shown: NumberedText) -> list[int]:
    """All that stand in the column of numbers."""
    return [int(one) for one in re.findall(r"\d+", "".join(f"{a.line}{a.rest}" for a in shown.anchors))]


def test_a_short_text_has_an_anchor_for_each_line() -> None:
    shown = numbered.numbered("one\ntwo\nthree\n")
    assert (shown.text, shown.first, shown.last, shown.total) == ("one\ntwo\nthree", 1, 3, 3)
    assert [anchor.line for anchor in shown.anchors] == numbers(shown) == [1, 2, 3]
    assert shown.before is None
    assert shown.after is None


def test_a_long_text_has_few_anchors_all_numbers_and_the_line_that_is_wanted() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 12_001))
    shown = numbered.numbered(text, line=7_003)
    assert len(shown.anchors) <= numbered.MOST_ANCHORS + 1
    assert 7_003 in [anchor.line for anchor in shown.anchors]
    assert numbers(shown) == [*range(1, 12_001)]


def test_a_very_long_text_is_shown_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered, "MOST_LINES", 4)
    text = "\n".join("abcdefghij")
    pieces = [numbered.numbered(text, line=line) for line in (1, 5, 9)]
    assert ["".join(piece.text.split()) for piece in pieces] == ["abcd", "efgh", "ij"]
    assert [(piece.before, piece.after) for piece in pieces] == [(None, 5), (1, 9), (5, None)]
    assert numbered.numbered(text, line=8).first == 5
    assert numbered.numbered(text, line=999).first == 9
    assert numbers(pieces[1]) == [5, 6, 7, 8]
    monkeypatch.setattr(numbered, "MOST_CHARACTERS", 10)
    assert numbered.numbered("x" * 50 + "\ny", line=1).last == 1


def test_carriage_returns_make_no_lines_of_their_own() -> None:
    shown = numbered.numbered("one\r\ntw\ro\r\n")
    assert shown.text == "one\ntw\N{SYMBOL FOR CARRIAGE RETURN}o"
    assert shown.total == 2


def test_sections_are_lines_with_others_under_them() -> None:
    text = (
        "hostname sw1\n!\ninterface Gi0/1\n description x\n!\ninterface Gi0/2\n!\nvlan 10\n name a\n name b\n"
    )
    assert [(one.line, one.name) for one in numbered.numbered(text).sections] == [
        (3, "interface Gi0/1"),
        (8, "vlan 10"),
    ]


def found(old: list[str], new: list[str]) -> SideBySide:
    return side_by_side(Lines(compared=old, shown=old), Lines(compared=new, shown=new), context=1)


def text_of(side: Side | None) -> str | None:
    return None if side is None else "".join(piece.text for piece in side.pieces)


def rows(piece: DiffPiece) -> list[ShownRow]:
    return [row for hunk in piece.hunks for row in hunk.rows]


def test_one_column_has_the_old_lines_of_a_change_before_the_new_ones() -> None:
    one = piece_of(
        found(["a", "vlan 1 x", "vlan 2 x", "z"], ["a", "vlan 3 x", "vlan 4 x", "z"]), columns=False
    )
    assert [(row.kind, text_of(row.new or row.old)) for row in rows(one)] == [
        ("same", "a"),
        ("removed", "vlan 1 x"),
        ("removed", "vlan 2 x"),
        ("added", "vlan 3 x"),
        ("added", "vlan 4 x"),
        ("same", "z"),
    ]
    marked = [
        piece.text
        for row in rows(one)
        for side in (row.old, row.new)
        if side
        for piece in side.pieces
        if piece.marked
    ]
    assert marked == ["1", "2", "3", "4"]


@pytest.mark.parametrize("columns", [True, False])
def test_a_secret_that_differs_is_said_in_the_new_line(columns: bool) -> None:
    shown, changed = ["password <secret>"], ["password <secret: changed>"]
    new = Lines(compared=["password 2"], shown=shown, marked=lambda step: changed)
    differing = side_by_side(Lines(compared=["password 1"], shown=shown), new, context=1)
    last = rows(piece_of(differing, columns=columns))[-1]
    assert [text_of(last.new)] == changed


@pytest.mark.parametrize("columns", [True, False])
def test_a_large_diff_is_shown_in_pieces_that_together_are_all_of_it(columns: bool) -> None:
    old = [f"{kind} {number} of {number}" for number in range(1200) for kind in ("same", "old")]
    new = [f"{kind} {number} of {number}" for number in range(1200) for kind in ("same", "new")]
    # One long hunk, and one more far behind it.
    old, new = old + ["x"] * 50 + ["last 1"], new + ["x"] * 50 + ["last 2"]
    difference = found(old, new)
    pieces = [piece_of(difference, columns=columns)]
    while pieces[-1].after is not None:
        pieces.append(piece_of(difference, columns=columns, offset=pieces[-1].after))
    assert len(pieces) > 3
    shown = [row for piece in pieces for row in rows(piece)]
    assert [text_of(row.old) for row in shown if row.old] == [*old[:-51], "x", "x", "last 1"]
    assert [text_of(row.new) for row in shown if row.new] == [*new[:-51], "x", "x", "last 2"]
    assert [piece.hunks[0].continued for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert [hunk.number for hunk in pieces[-1].hunks] == [1, 2]
    for piece in pieces:
        elements = sum(5 + sum(p.marked for s in (r.old, r.new) if s for p in s.pieces) for r in rows(piece))
        assert elements <= changes.MOST_ELEMENTS
    for before, piece in pairwise(pieces):
        assert piece.before is not None
        assert rows(piece_of(difference, columns=columns, offset=piece.before)) == rows(before)
        assert rows(piece_of(difference, columns=columns, offset=(before.after or 0) - 1)) == rows(before)
    assert rows(piece_of(difference, columns=columns, offset=10**9)) == rows(pieces[-1])


def test_long_lines_and_many_words_are_cut() -> None:
    words = " ".join(f"word{number} kept" for number in range(40))
    changed = " ".join(f"WORD{number} kept" for number in range(40))
    piece = piece_of(found([words], [changed]), columns=True)
    (row,) = rows(piece)
    assert row.new is not None
    assert sum(each.marked for each in row.new.pieces) == changes.MOST_WORDS
    assert text_of(row.new) == changed
    long = piece_of(found(["x"], ["y" * 5_000]), columns=True)
    assert [text_of(row.new) for row in rows(long) if row.new] == ["y" * 2_000 + " … 3,000 more characters"]
