"""Parts of a generated page: its head, tables and cells."""

import re
import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 120


def page(title: str, purpose: str, *parts: str) -> str:
    """Return a page: the title, what it is for, how it came about, then the parts."""
    note = f"{purpose} This page is written from the code."
    return "\n\n".join([f"# {title}", textwrap.fill(note, WIDTH), *(part for part in parts if part)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(text: str) -> str:
    """Return the text as code of a cell of a table."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def prose(text: str) -> str:
    """Return a sentence for a cell: what Markdown would read as HTML or as a border stands as it is."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", r"\|"))
    return "".join(part if part.startswith("`") else part.replace("<", r"\<") for part in parts)
