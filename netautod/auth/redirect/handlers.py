"""/api/auth/oidc: the two redirects of a login through an OpenID Connect provider."""

from marshmallow import fields, validate

from netautod.auth.models import ADMIN_UI, CLIENT_TYPES
from netautod.auth.redirect.service import LIFETIME, UNKNOWN, RedirectLogins
from netautod.core.refusals import TokenRefused
from netautod.core.schema import Query
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route


class AuthorizeQuery(Query):
    redirect_uri = fields.String(required=True)
    client_type = fields.String(load_default=ADMIN_UI, validate=validate.OneOf(CLIENT_TYPES))


class CallbackQuery(Query):
    """What the provider sends (OpenID Connect Core 3.1.2.5, RFC 9207); none of it is verified yet."""

    state = fields.String()
    code = fields.String()
    error = fields.String()
    iss = fields.String()


class OidcHandler(JsonHandler):
    redirect_logins: RedirectLogins

    def send_to(self, url: str) -> None:
        self.set_status(302)
        self.clear_header("Content-Type")
        self.set_header("Location", url)
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish()


class AuthorizeHandler(OidcHandler):
    @public(status=302, query=AuthorizeQuery, errors=(401, 409))
    async def get(self) -> None:
        """Sends the browser to the identity provider."""
        # As it was sent: the query's values are trimmed, and this one is compared exactly.
        redirect_uri = self.get_query_argument("redirect_uri", strip=False)
        begun = await self.redirect_logins.begin(redirect_uri, self.query["client_type"])
        cookie = begun.cookie
        self.set_cookie(
            cookie.name,
            cookie.value,
            path=cookie.path,
            secure=cookie.secure,
            httponly=True,
            samesite="Lax",  # the provider's redirect is a navigation from another site
            max_age=int(LIFETIME.total_seconds()),
        )
        self.send_to(begun.url)


class CallbackHandler(OidcHandler):
    @public(status=302, query=CallbackQuery, errors=(401, 403, 409))
    async def get(self) -> None:
        """Ends the login and sends the browser to redirect_uri with the tokens in the fragment."""
        if any(len(values) > 1 for values in self.request.query_arguments.values()):
            raise TokenRefused(UNKNOWN)  # RFC 6749 3.1: no parameter more than once
        cookie = self.redirect_logins.cookie(self.query.get("state", ""), "")
        self.clear_cookie(cookie.name, path=cookie.path, secure=cookie.secure, httponly=True)
        self.send_to(await self.redirect_logins.finish(self.query, self.get_cookie, self.info))


ROUTES = (
    Route(path="/api/auth/oidc/authorize", handler=AuthorizeHandler),
    Route(path="/api/auth/oidc/callback", handler=CallbackHandler),
)
