"""The rules for new passwords: length, lists of common ones, names that are easy to guess, and strength.

They hold for new passwords only; existing ones keep working.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from netautod.core.errors import InvalidInput
from netautod.identity.users.passwords.hashing import MAX_LENGTH, PasswordHasher, normalised, unaccented

MIN_LENGTH: Final = 12
PRODUCT: Final = "netautod"
MIN_NAME: Final = 3
_PARTS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, kw_only=True)
class PasswordOwner:
    """The owner of a new password: the owner's names in it make it no harder to guess."""

    username: str
    organization: str = ""
    email: str | None = None
    display_name: str | None = None

    @property
    def names(self) -> list[str]:
        """Return all names in lower case, whole and in parts, the longest first."""
        whole = [PRODUCT, self.username, self.organization, self.email or "", self.display_name or ""]
        texts = [unaccented(text) for text in whole]
        parts = [part for text in texts for part in (text, _PARTS.sub("", text), *_PARTS.split(text))]
        return sorted({part for part in parts if len(part) >= MIN_NAME}, key=lambda part: (-len(part), part))


class PasswordPolicy:
    """The policy. `minimum` is the setting auth.password_min_length."""

    def __init__(self, *, hasher: PasswordHasher, minimum: int = MIN_LENGTH) -> None:
        self._hasher = hasher
        self._minimum = minimum

    async def check(self, password: str, owner: PasswordOwner, *, field: str = "password") -> None:
        """Check form and strength. Raises InvalidInput, which names `field`."""
        await self.check_form(password, owner.username, field=field)
        weakness = await self.weakness(password, owner)
        if weakness is not None:
            raise InvalidInput(f"{field}: {weakness}")

    async def check_form(self, password: str, username: str, *, field: str = "password") -> None:
        """Check the length and the list of common passwords alone; characters are counted after NFKC.

        Raises InvalidInput, which names `field`.
        """
        text = normalised(password)
        if text is None:
            raise InvalidInput(f"{field}: at most {MAX_LENGTH} characters of valid Unicode")
        if len(text) < self._minimum:
            raise InvalidInput(f"{field}: at least {self._minimum} characters")
        if text.casefold() == unicodedata.normalize("NFKC", username).casefold():
            raise InvalidInput(f"{field}: must not be the username")
        if await self._hasher.in_thread(lambda: _is_common(text)):
            raise InvalidInput(f"{field}: is on the list of common passwords")

    async def weakness(self, password: str, owner: PasswordOwner) -> str | None:
        """Return why a password of the right form is too easy to guess, None if it is not. Takes some ten ms,
        in a thread.
        """
        text, names = normalised(password) or "", owner.names
        return await self._hasher.in_thread(lambda: _weakness(text, names))


# In a thread, and not before the first password: the word lists are 15 MB, and loading them takes 100 ms.
def _is_common(text: str) -> bool:
    from netautod.identity.users.passwords.common import is_common

    return is_common(text)


def _weakness(text: str, names: list[str]) -> str | None:
    from netautod.identity.users.passwords.common import is_stretched_name, unit
    from netautod.identity.users.passwords.strength import is_strong

    if is_stretched_name(text, names):
        return "is a name or a common password with little around it"
    # It is as strong as the part that it repeats, and hardly stronger than its lower-case form.
    return None if is_strong(unit(text), names) else "is too easy to guess; take some words more"
