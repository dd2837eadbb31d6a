"""Counts with their nouns."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return the count with its noun: `1 device`, `2000 devices`."""
    return f"{count} {noun_for(count, noun, plural)}"


def noun_for(count: int, noun: str, plural: str = "") -> str:
    """Return the noun in the number that the count needs; `plural` is for a noun that takes no plain s."""
    return noun if count == 1 else plural or f"{noun}s"
