"""Rows as CSV (RFC 4180) for spreadsheets, which take some texts for formulas and run them."""

import csv
from collections.abc import Iterable
from io import StringIO

# OWASP, "CSV Injection" (owasp.org/www-community/attacks/CSV_Injection): the first characters of a formula,
# the wide forms among them.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return each row as a line that ends with CRLF; None is an empty cell."""
    written = StringIO()
    writer = csv.writer(written)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return written.getvalue()


def _cell(value: object) -> object:
    """Put an apostrophe before a text that could be a formula: spreadsheets then take it for a text."""
    if not isinstance(value, str):
        return "" if value is None else value
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA) else value
