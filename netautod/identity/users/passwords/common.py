"""Passwords that many people have, and those that are names with little else. Pure.

The list is zxcvbn's. `policy.py` imports this module with the first password that it checks.
"""

import re
from typing import Final

from zxcvbn.frequency_lists import FREQUENCY_LISTS

from netautod.identity.users.passwords.hashing import unaccented

COMMON: Final = frozenset(password.casefold() for password in FREQUENCY_LISTS["passwords"])
MIN_COMMON_BASE: Final = 6
MAX_TAIL: Final = 5
MAX_PADDING: Final = 10
"""Digits and signs that do not make one word a password."""
MAX_SIGNS_AT_END: Final = 2

_WORD: Final = re.compile(r"[^\W\d_]+")
# What one sign stands for in most passwords; "1" and "|" are read as i and as l.
_SIGNS: Final = str.maketrans("4@8(3690!$5+72", "aabceggoissttz")


def is_common(password: str) -> bool:
    """Return whether it is one of the 30,000 most used passwords (zxcvbn's list), in any case, or one
    stretched.

    Few of the listed ones have 12 characters, so one that is repeated, or has up to five digits or signs
    behind it (`password1234`), counts as listed too; so does one character repeated.
    """
    folded = password.casefold()
    if folded in COMMON or unit(folded) in COMMON or len(set(folded)) == 1:
        return True
    for length in range(1, MAX_TAIL + 1):
        base, tail = folded[:-length], folded[-length:]
        if any(character.isalpha() for character in tail) or len(base) < MIN_COMMON_BASE:
            return False
        if base in COMMON:
            return True
    return False


def is_stretched_name(password: str, names: list[str]) -> bool:
    """Return whether little is left of it without those names and one common password.

    `Netautod-2026!!`, `alice.smith.1990` and `P4ssw0rd@default` are such; four words are not.
    """
    folded = unaccented(password)
    read = {_plain(folded, one=one, more=more) for one in "il" for more in range(MAX_SIGNS_AT_END + 1)}
    return any(_is_little(text, names) for text in {folded, *read})


def _is_little(text: str, names: list[str]) -> bool:
    for name in names:
        text = text.replace(name, "\0")
    words = _WORD.findall(text)
    if len(words) > 1 or not all(word in COMMON for word in words):
        return False
    padding = len(text) - text.count("\0") - sum(len(word) for word in words)
    return padding <= MAX_PADDING


def _plain(text: str, *, one: str, more: int) -> str:
    """Replace the signs that stand for letters, but for those at the end after `more` of them."""
    end = len(text.rstrip("0123456789!@#$%^&*()+-_=.,?")) + more
    return text[:end].translate(_SIGNS).replace("1", one).replace("|", one) + text[end:]


def unit(text: str) -> str:
    """Return the shortest text that gives `text` when repeated."""
    return text[: (text + text).index(text, 1)] if text else text
