"""Rows as CSV (RFC 4180) for spreadsheets, which take some texts for formulas and run them.

A spreadsheet may cut the rows at other characters than commas, as its language says. So a text is none of a
formula wherever a cell might begin, and nothing in it acts on a terminal or hides.
"""

import re
from collections.abc import Iterable

from netautod.core.text.printable import printable_lines

# OWASP, "CSV Injection" (owasp.org/www-community/attacks/CSV_Injection): the first characters of a formula,
# the wide forms among them.
_FIRST = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
# A cell begins here, whichever of these characters its reader takes for the end of one.
_FORMULA = re.compile(rf"((?:\A|[;\t|,\n\r\"])[ \u00a0\u3000]*)(?={_FIRST})")
_QUOTED = re.compile(r"[;\t|,\n\r\"]|\A | \Z")


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return each row as a line that ends with CRLF; None is an empty cell."""
    return "".join(f"{csv_line(row)}\r\n" for row in rows)


def csv_line(row: Iterable[object]) -> str:
    """Return the row without the end of its line."""
    return ",".join(map(_cell, row))


def _cell(value: object) -> str:
    """Put an apostrophe before what could be a formula: spreadsheets then take it for a text."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = _FORMULA.sub(r"\1'", printable_lines(value))
    return '"{}"'.format(text.replace('"', '""')) if _QUOTED.search(text) else text
