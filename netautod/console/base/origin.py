"""The defence against forged forms: the Origin header of a request, and a token in each form."""

import hashlib
import hmac
import secrets

from tornado.httputil import HTTPServerRequest

from netautod.core.errors import Forbidden
from netautod.http.context import HttpContext

FIELD = "_xsrf"
FOREIGN = "This form was not sent from a page of this service"
STALE = "The form is too old, or of another session; load its page again"
_BYTES = 32


def require_own_origin(request: HTTPServerRequest, context: HttpContext) -> None:
    """Raise Forbidden for a form that a page of another origin sends.

    Browsers send Origin with every POST (Fetch, "append a request Origin header"); a client that sends none
    is no browser, or says by Sec-Fetch-Site that the page is of another site.
    """
    origins = request.headers.get_list("Origin")
    if not origins:
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Forbidden(FOREIGN)
        return
    if len(origins) > 1 or origins[0].lower() != context.origin(request):
        raise Forbidden(FOREIGN)


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
