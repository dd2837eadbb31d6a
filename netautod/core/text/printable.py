"""Text of strangers for a terminal or a log: nothing in it acts, hides or turns the line around."""

import re

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What shows nothing but counts as a letter or a mark (Unicode's Default_Ignorable_Code_Point)."""


def printable(text: str) -> str:
    r"""Return the text with an escape (`\n`, `\x1b`, `\u202e`, `\U000e0041`) for each character that does not
    show.

    That is all but letters, marks, digits, punctuation, symbols and the space (`str.isprintable`): control,
    format and bidirectional characters, line and paragraph separators, spaces of other widths, surrogates,
    private and unassigned ones.
    """
    if text.isprintable() and (text.isascii() or not _INVISIBLE.search(text)):
        return text
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable() and not _INVISIBLE.match(character):
        return character
    return character.encode("unicode_escape").decode("ascii")
