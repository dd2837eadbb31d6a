"""Text of strangers for a terminal, a page, a table or a log: nothing in it acts, hides or turns lines."""

import re

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What shows nothing but counts as a letter or a mark (Unicode's Default_Ignorable_Code_Point)."""
# Line ends, tabs, and the two other blanks that keyboards have.
_LAYOUT = "\n\t\u00a0\u3000"
_FEW = 16


def printable(text: str) -> str:
    r"""Return the text with an escape (`\n`, `\x1b`, `\u202e`, `\U000e0041`) for each character that does not
    show.

    That is all but letters, marks, digits, punctuation, symbols and the space (`str.isprintable`): control,
    format and bidirectional characters, line and paragraph separators, spaces of other widths, surrogates,
    private and unassigned ones.
    """
    return text if text.isprintable() and _shows(text) else _escaped(text, "")


def printable_lines(text: str) -> str:
    """Return a text of several lines as `printable` does, but with its line ends, tabs and blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _escaped(text, _LAYOUT)


def _escaped(text: str, kept: str) -> str:
    # A text has few different characters, however long it is, and hardly ever several hidden ones.
    hidden = [one for one in {*text} if one not in kept and not (one.isprintable() and _shows(one))]
    if len(hidden) > _FEW:
        return text.translate({ord(one): _escape(one) for one in hidden})
    for one in hidden:
        text = text.replace(one, _escape(one))
    return text


def _shows(text: str) -> bool:
    return text.isascii() or not _INVISIBLE.search(text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
