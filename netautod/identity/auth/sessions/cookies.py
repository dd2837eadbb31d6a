"""The cookie of a console session: 256 random bits, of which only the SHA-256 is stored."""

import hashlib
import re
import secrets

COOKIE_BYTES = 32
FORM = re.compile(r"[A-Za-z0-9_-]{43}")


def new_cookie() -> str:
    """Generate 43 characters of base64url."""
    return secrets.token_urlsafe(COOKIE_BYTES)


def is_cookie(text: str) -> bool:
    """Return whether the text has the form of a cookie; other text is refused without a database read."""
    return FORM.fullmatch(text) is not None


def hash_of_cookie(text: str) -> str:
    """Return the SHA-256 in hex. The random bits need no slow hash."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()
