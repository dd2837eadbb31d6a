"""Every code point: what is shown acts on no terminal, hides nothing and turns no line around."""

import re
import sys
import unicodedata
from pathlib import Path

import pytest

from netautod.core.text.printable import printable, printable_lines

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
# Controls, formats, surrogates, private and unassigned ones, line and paragraph separators.
NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def test_no_code_point_that_acts_or_hides_is_shown() -> None:
    shown = printable("".join(EVERY))
    left = {unicodedata.category(character) for character in set(shown)}
    assert not left & NEVER
    assert not any(unicodedata.bidirectional(c) in ("RLE", "LRE", "RLO", "LRO", "PDF", "RLI") for c in shown)


def test_every_letter_digit_and_symbol_is_shown_as_it_is() -> None:
    kept = [c for c in EVERY if unicodedata.category(c)[0] in "LNPS" and c.isascii()]
    assert printable("".join(kept)) == "".join(kept)
    assert (
        printable("M\u00fcnchen \u6771\u4eac \u2192 \u20ac \U0001f600")
        == "M\u00fcnchen \u6771\u4eac \u2192 \u20ac \U0001f600"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\u200f", r"\u200f", id="a right-to-left mark"),
        pytest.param("\u061c", r"\u061c", id="an Arabic letter mark"),
        pytest.param("\U000e0041", r"\U000e0041", id="a tag"),
        pytest.param("\ud800", r"\ud800", id="a lone surrogate"),
        pytest.param("\u3164", r"\u3164", id="a letter that shows nothing"),
        pytest.param("\ue000", r"\ue000", id="a private character"),
    ],
)
def test_the_escape_names_the_character(text: str, shown: str) -> None:
    assert printable(f"a{text}b") == f"a{shown}b"


def test_a_text_of_lines_keeps_its_layout_and_nothing_else_that_does_not_show() -> None:
    kept = "a\n\tb\u00a0c\u3000d"
    assert printable_lines(kept.replace("\n", "\r\n")) == kept
    shown = {*printable_lines("".join(EVERY))} - {"\n", "\t", "\u00a0", "\u3000"}
    assert shown == {*printable("".join(EVERY))} - {"\u00a0", "\u3000"}
    assert printable_lines("a\rb") == r"a\rb"


def test_commands_print_through_one_place(repository_root: Path) -> None:
    """A name out of the database reaches no terminal as it is."""
    for path in (repository_root / "netautod" / "cli").rglob("*.py"):
        assert path.stem == "output" or re.search(r"(?<!\w)print\(", path.read_text()) is None, path
