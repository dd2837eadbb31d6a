"""The cookies of the web console as browsers receive them."""

from tornado.web import RequestHandler

SESSION = "netautod"


def cookie_name(name: str, *, secure: bool) -> str:
    """Return the cookie's name. `secure`: the browser reaches us through TLS.

    The prefix stops a neighbouring site, or an attacker on a connection in clear, from planting a cookie (RFC
    6265bis 4.1.3.2).
    """
    return f"__Host-{name}" if secure else name


def give_cookie(
    handler: RequestHandler, name: str, value: str, *, secure: bool, max_age: int | None = None
) -> None:
    """Set a cookie. `max_age` in seconds; None: until the browser is closed.

    Lax: a link from another site, such as that of a ticket, opens a page, and no form of that site is sent
    with it.
    """
    handler.set_cookie(
        cookie_name(name, secure=secure),
        value,
        path="/",
        secure=secure,
        httponly=True,
        samesite="Lax",
        max_age=max_age,
    )
