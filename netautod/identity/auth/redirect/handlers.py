"""The two redirects of a login through an identity provider; those of `oidc` have an older address, too."""

from marshmallow import fields, validate

from netautod.core.identity.refusals import TokenRefused
from netautod.core.schema.bases import Query
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.models import ADMIN_UI, CLIENT_TYPES
from netautod.identity.auth.pages.cookie import SESSION, cookie_name, give_cookie
from netautod.identity.auth.pages.service import PageLogins
from netautod.identity.auth.redirect.browser import bind
from netautod.identity.auth.redirect.service import UNKNOWN, RedirectLogins
from netautod.identity.users.models import OIDC


class AuthorizeQuery(Query):
    redirect_uri = fields.String(required=True)
    client_type = fields.String(load_default=ADMIN_UI, validate=validate.OneOf(CLIENT_TYPES))


class CallbackQuery(Query):
    """The parameters that the provider sends (OpenID Connect Core 3.1.2.5, RFC 9207); none is verified
    yet."""

    state = fields.String()
    code = fields.String()
    error = fields.String()
    iss = fields.String()


class RedirectHandler(JsonHandler):
    redirect_logins: RedirectLogins
    page_logins: PageLogins

    async def begin(self, provider: str) -> None:
        # As it was sent: the query's values are trimmed, and this one is compared exactly.
        redirect_uri = self.get_query_argument("redirect_uri", strip=False)
        start = await self.redirect_logins.begin(provider, redirect_uri, self.query["client_type"])
        bind(self, start.cookie)
        self._send_to(start.url)

    async def end(self, provider: str) -> None:
        cookie = self.redirect_logins.cookie(provider, self.query.get("state", ""), "")
        if any(len(values) > 1 for values in self.request.query_arguments.values()):
            raise TokenRefused(UNKNOWN)  # RFC 6749 3.1: no parameter more than once
        self.clear_cookie(cookie.name, path=cookie.path, secure=cookie.secure, httponly=True)
        # Providers of other kinds send other parameters.
        sent = {name: self.get_query_argument(name) for name in self.request.query_arguments} | self.query
        ended = await self.redirect_logins.finish(provider, sent, self.get_cookie, self.info)
        if ended.cookie is not None:
            await self._begin_session(ended.cookie)
        self._send_to(ended.url)

    async def _begin_session(self, cookie: str) -> None:
        """Set the cookie of a session at the console, and end the session that the browser had."""
        secure = self.context.scheme(self.request) == "https"
        await self.page_logins.replace(self.get_cookie(cookie_name(SESSION, secure=secure)))
        give_cookie(self, SESSION, cookie, secure=secure)

    def _send_to(self, url: str) -> None:
        self.set_status(302)
        self.clear_header("Content-Type")
        self.set_header("Location", url)
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish()


class AuthorizeHandler(RedirectHandler):
    @public(status=302, query=AuthorizeQuery, errors=(401, 409, 502), name="begin_login")
    async def get(self, name: str) -> None:
        """Send the browser to the identity provider."""
        await self.begin(name)


class CallbackHandler(RedirectHandler):
    @public(status=302, query=CallbackQuery, errors=(401, 403, 409, 502), name="end_login")
    async def get(self, name: str) -> None:
        """End the login: at redirect_uri with tokens in the fragment, or with a cookie at the console."""
        await self.end(name)


class OidcAuthorizeHandler(RedirectHandler):
    @public(status=302, query=AuthorizeQuery, errors=(401, 409, 502), name="begin_oidc")
    async def get(self) -> None:
        """Send the browser to the OpenID Connect provider, as /api/auth/providers/oidc/authorize does."""
        await self.begin(OIDC)


class OidcCallbackHandler(RedirectHandler):
    @public(status=302, query=CallbackQuery, errors=(401, 403, 409, 502), name="end_oidc")
    async def get(self) -> None:
        """End a login as /api/auth/providers/oidc/callback does."""
        await self.end(OIDC)


ROUTES = (
    Route(path="/api/auth/providers/:name/authorize", handler=AuthorizeHandler),
    Route(path="/api/auth/providers/:name/callback", handler=CallbackHandler),
    Route(path="/api/auth/oidc/authorize", handler=OidcAuthorizeHandler),
    Route(path="/api/auth/oidc/callback", handler=OidcCallbackHandler),
)
