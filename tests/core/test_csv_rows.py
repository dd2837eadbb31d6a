"""Rows for spreadsheets: no text becomes a formula, wherever a reader takes a cell to begin."""

import csv
from io import StringIO

import pytest

from netautod.core.text.csv_rows import csv_text

FIRST = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        *(pytest.param(f"{one}1", f"'{one}1", id=f"a formula that begins with {one}") for one in FIRST),
        pytest.param("  =1", '"  \'=1"', id="behind blanks"),
        pytest.param("a;=1", '"a;\'=1"', id="behind a semicolon"),
        pytest.param("\u3000=1", "\u3000'=1", id="behind a wide blank"),
        pytest.param("a; =1", '"a; \'=1"', id="behind a semicolon and a blank"),
        pytest.param("a\t=1", '"a\t\'=1"', id="behind a tab"),
        pytest.param("a|@SUM(1)", '"a|\'@SUM(1)"', id="behind a bar"),
        pytest.param("a,-2+3", '"a,\'-2+3"', id="behind a comma"),
        pytest.param("a,=1;=2|=3", "\"a,'=1;'=2|'=3\"", id="several"),
        pytest.param(";=1", '";\'=1"', id="an empty cell before"),
        pytest.param('x";=1', '"x"";\'=1"', id="behind a quote"),
        pytest.param('"=1', '"""\'=1"', id="a quote before it"),
        pytest.param("a\n=1", '"a\n\'=1"', id="on the next line"),
        pytest.param("a\r\n=1", '"a\n\'=1"', id="on the next line of Windows"),
        pytest.param("\u200b=1", r"\u200b=1", id="behind what cannot be seen"),
        pytest.param("\x00=1", r"\x00=1", id="behind a NUL"),
        pytest.param("a;b", '"a;b"', id="a semicolon"),
        pytest.param("a\tb", '"a\tb"', id="a tab"),
        pytest.param("a - b", "a - b", id="no formula"),
        pytest.param("user@example.net", "user@example.net", id="an address"),
        pytest.param("in\u202evoice", r"in\u202evoice", id="a turned direction"),
        pytest.param("a\x9b31m", r"a\x9b31m", id="an escape of C1"),
        pytest.param(None, "", id="nothing"),
        pytest.param(-3, "-3", id="a number"),
    ],
)
def test_a_cell(value: object, cell: str) -> None:
    assert csv_text([["first", value]]) == f"first,{cell}\r\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_no_reader_finds_a_formula(delimiter: str) -> None:
    texts = [f"a{end}{blanks}{first}1" for end in ',;\t|\n"' for blanks in ("", " ") for first in FIRST]
    rows = csv.reader(StringIO(csv_text([[text, "x"] for text in texts])), delimiter=delimiter)
    assert [cell for row in rows for cell in row if cell.lstrip(' "').startswith(FIRST)] == []


def test_a_row_is_read_as_it_was() -> None:
    row = ["plain", 'a "quote"', "a,b;c\td", "two\nlines", " blanks ", ""]
    assert next(csv.reader(StringIO(csv_text([row])))) == row
