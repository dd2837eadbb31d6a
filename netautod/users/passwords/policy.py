"""Which new passwords are taken: their length, lists of common ones, names that anybody tries, and strength.

It holds for new passwords only; what exists keeps working.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from zxcvbn.frequency_lists import FREQUENCY_LISTS

from netautod.core.errors import InvalidInput
from netautod.users.passwords.hashing import MAX_LENGTH, PasswordHasher, normalised
from netautod.users.passwords.strength import is_strong

MIN_LENGTH: Final = 12
PRODUCT: Final = "netautod"
COMMON: Final = frozenset(password.casefold() for password in FREQUENCY_LISTS["passwords"])
MIN_COMMON_BASE: Final = 6
MAX_TAIL: Final = 5
MIN_NAME: Final = 3
MAX_PADDING: Final = 10
"""Digits and signs that do not make one word a password."""
MAX_SIGNS_AT_END: Final = 2

_WORD: Final = re.compile(r"[^\W\d_]+")
_PARTS: Final = re.compile(r"[\W_]+")
# What one sign stands for in most passwords; "1" and "|" are read as i and as l.
_SIGNS: Final = str.maketrans("4@8(3690!$5+72", "aabceggoissttz")


@dataclass(frozen=True, kw_only=True)
class PasswordOwner:
    """Whose password it is to be: names of theirs in it make it no harder to guess."""

    username: str
    organization: str = ""
    email: str | None = None
    display_name: str | None = None

    @property
    def names(self) -> list[str]:
        """All names in lower case, whole and in parts, the longest first."""
        whole = [PRODUCT, self.username, self.organization, self.email or "", self.display_name or ""]
        texts = [_folded(text) for text in whole]
        parts = [part for text in texts for part in (text, _PARTS.sub("", text), *_PARTS.split(text))]
        return sorted({part for part in parts if len(part) >= MIN_NAME}, key=lambda part: (-len(part), part))


class PasswordPolicy:
    """`minimum` is the setting auth.password_min_length."""

    def __init__(self, *, hasher: PasswordHasher, minimum: int = MIN_LENGTH) -> None:
        self._hasher = hasher
        self._minimum = minimum

    async def check(self, password: str, owner: PasswordOwner, *, field: str = "password") -> None:
        """Raises InvalidInput naming `field`."""
        self.check_form(password, owner.username, field=field)
        weakness = await self.weakness(password, owner)
        if weakness is not None:
            raise InvalidInput(f"{field}: {weakness}")

    def check_form(self, password: str, username: str, *, field: str = "password") -> None:
        """Length and the list of common ones alone; lengths are counted in characters after NFKC."""
        text = normalised(password)
        if text is None:
            raise InvalidInput(f"{field}: at most {MAX_LENGTH} characters of valid Unicode")
        if len(text) < self._minimum:
            raise InvalidInput(f"{field}: at least {self._minimum} characters")
        if text.casefold() == unicodedata.normalize("NFKC", username).casefold():
            raise InvalidInput(f"{field}: must not be the username")
        if is_common(text):
            raise InvalidInput(f"{field}: is on the list of common passwords")

    async def weakness(self, password: str, owner: PasswordOwner) -> str | None:
        """Why a password of the right form is too easy to guess. Some ten ms, in a thread."""
        text = normalised(password) or ""
        names = owner.names
        if is_stretched_name(text, names):
            return "is a name or a common password with little around it"
        # As strong as what it repeats, and no stronger than its lower-case form by much.
        if not await self._hasher.in_thread(lambda: is_strong(_unit(text), names)):
            return "is too easy to guess; take some words more"
        return None


def is_common(password: str) -> bool:
    """True for one of the 30,000 most used passwords (zxcvbn's list), in any case, or one stretched.

    Few of the listed ones have 12 characters, so one that is repeated, or has up to five digits or signs
    behind it (`password1234`), counts as listed too; so does one character repeated.
    """
    folded = password.casefold()
    if folded in COMMON or _unit(folded) in COMMON or len(set(folded)) == 1:
        return True
    for length in range(1, MAX_TAIL + 1):
        base, tail = folded[:-length], folded[-length:]
        if any(character.isalpha() for character in tail) or len(base) < MIN_COMMON_BASE:
            return False
        if base in COMMON:
            return True
    return False


def is_stretched_name(password: str, names: list[str]) -> bool:
    """True if nothing is left of it but a little padding, without those names and one common password.

    `Netautod-2026!!`, `alice.smith.1990` and `P4ssw0rd@default` are; four words are not.
    """
    folded = _folded(password)
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
    """The signs that stand for letters as these letters, but for those at the end after `more` of them."""
    end = len(text.rstrip("0123456789!@#$%^&*()+-_=.,?")) + more
    return text[:end].translate(_SIGNS).replace("1", one).replace("|", one) + text[end:]


def _folded(text: str) -> str:
    """In lower case and without accents: nobody's name is harder to guess for being written plainly."""
    parts = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(one for one in parts if not unicodedata.combining(one)))


def _unit(text: str) -> str:
    """The shortest text that gives `text` when repeated."""
    return text[: (text + text).index(text, 1)] if text else text
