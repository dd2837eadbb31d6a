"""The cookie that a browser receives when it begins a login by redirect."""

from tornado.web import RequestHandler

from netautod.identity.auth.redirect.service import LIFETIME, BrowserCookie


def bind(handler: RequestHandler, cookie: BrowserCookie) -> None:
    """Set the cookie that the browser must send when the login ends."""
    handler.set_cookie(
        cookie.name,
        cookie.value,
        path=cookie.path,
        secure=cookie.secure,
        httponly=True,
        samesite="Lax",  # the provider's redirect is a navigation from another site
        max_age=int(LIFETIME.total_seconds()),
    )
