"""Texts that devices send about themselves: what cannot be shown is replaced, nothing else is changed."""

import unicodedata

MOST_CHARACTERS = 1024
REPLACEMENT = "\ufffd"


def device_text(value: bytes | str | None) -> str | None:
    """Return the text without blanks around it; None for an empty one.

    What is no UTF-8 and every control, format or unassigned character becomes U+FFFD, a line break or tab a
    space; NUL at the end is padding. A longer text is cut after MOST_CHARACTERS.
    """
    if value is None:
        return None
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    text = text.rstrip("\0")
    if not text.isprintable():
        text = "".join(map(_shown, text))
    return text.strip()[:MOST_CHARACTERS] or None


def _shown(character: str) -> str:
    if character in "\r\n\t":
        return " "
    # Category C: control, format, surrogate, private use, unassigned.
    return REPLACEMENT if unicodedata.category(character).startswith("C") else character
