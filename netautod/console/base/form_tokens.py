"""The token in each form of a page, which no page of another origin knows (its Origin: http/admission.py)."""

import hashlib
import hmac
import secrets

from netautod.core.errors import Forbidden

FIELD = "_xsrf"
STALE = "The form is too old, or of another session; load its page again"
_BYTES = 32


def form_token(cookie: str) -> str:
    """Return a token for the forms of a client with this cookie.

    It is another text each time, because the answer is compressed and may hold text that an attacker chose
    (https://www.breachattack.com/).
    """
    mask = secrets.token_bytes(_BYTES)
    return (mask + _xor(mask, _digest(cookie))).hex()


def require_form_token(given: str, cookie: str) -> None:
    """Raise Forbidden for a token that `form_token` has not made for this cookie."""
    try:
        both = bytes.fromhex(given)
    except ValueError as error:
        raise Forbidden(STALE) from error
    right = len(both) == 2 * _BYTES and hmac.compare_digest(
        _xor(both[:_BYTES], both[_BYTES:]), _digest(cookie)
    )
    if not right or not cookie:
        raise Forbidden(STALE)


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(b"form:" + cookie.encode("utf-8", "surrogatepass")).digest()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
