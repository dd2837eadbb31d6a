"""/api/auth: the logins with a password, refresh, logout, me and the providers."""

import time

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import InvalidInput
from netautod.http.access import any_token, public, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.models import LoginRequest
from netautod.identity.auth.schemas import (
    SMALL_BODY,
    LdapTestAnswer,
    LdapTestBody,
    LoginBody,
    LogoutAnswer,
    LogoutBody,
    MeAnswer,
    ProviderListAnswer,
    ProviderLoginBody,
    RefreshBody,
    TokenAnswer,
    token_view,
)
from netautod.identity.auth.service import AuthService
from netautod.identity.users.models import LDAP

REFUSED = (401, 403, 409)  # a wrong password, a missing permission, no free seat
# Grants all: a test shows what the directory answers, and whether a password of a person is right.
ADMIN = "*"


class AuthHandler(JsonHandler):
    auth: AuthService


class ProviderListHandler(AuthHandler):
    @public(answer=ProviderListAnswer)
    async def get(self) -> None:
        """List the ways to log in, and which of them are enabled."""
        self.answer({"providers": [entry.to_json() for entry in self.auth.providers.entries]})


class LoginHandler(AuthHandler):
    @public(body=ProviderLoginBody, answer=TokenAnswer, body_limit=SMALL_BODY, errors=REFUSED, grows=False)
    async def post(self) -> None:
        """Log in with a username and password, those of this service or of the `provider` that is named."""
        body = dict(self.body)
        name = body.pop("provider")
        try:
            self.auth.providers.get(name)
        except InvalidInput as error:
            raise InvalidInput(f"provider: {error.text}") from error
        tokens = await self.auth.login(name, LoginRequest(**body), self.info)
        self.answer(tokens.to_json())


class RefreshHandler(AuthHandler):
    # The session goes on; its login, its end and a reused token are the events.
    @public(body=RefreshBody, answer=TokenAnswer, body_limit=SMALL_BODY, errors=REFUSED, changes=False)
    async def post(self) -> None:
        """Exchange a refresh token, once, for a new pair of tokens."""
        tokens = await self.auth.refresh(self.body["refresh_token"], self.info)
        self.answer(tokens.to_json())


class LogoutHandler(AuthHandler):
    @any_token(body=LogoutBody, answer=LogoutAnswer, body_limit=SMALL_BODY, grows=False)
    async def post(self) -> None:
        """End this session and revoke all of the user's refresh tokens, whichever is sent along."""
        ended = await self.auth.logout(self.caller)
        self.answer({"message": "Logged out", "sessions_revoked": ended})


class MeHandler(AuthHandler):
    @any_token(answer=MeAnswer)
    async def get(self) -> None:
        """Show the current user with roles and permissions.

        With an API token: the permissions of the token, and the token itself without its secret.
        """
        user = await self.auth.current_user(self.caller)
        self.answer({**user.to_json(), **token_view(self.caller)})


class LdapLoginHandler(AuthHandler):
    @public(
        body=LoginBody,
        answer=TokenAnswer,
        body_limit=SMALL_BODY,
        errors=REFUSED,
        grows=False,
        name="login_ldap",
    )
    async def post(self) -> None:
        """Log in with a username and password of the LDAP directory."""
        tokens = await self.auth.login(LDAP, LoginRequest(**self.body), self.info)
        self.answer(tokens.to_json())


class TestHandler(AuthHandler):
    audit: AuditLog

    async def test(self, name: str, action: str) -> None:
        """Answer with the result of the provider's test of its own configuration."""
        username, password = self.body.get("username"), self.body.get("password")
        started = time.monotonic()
        result = await self.auth.probe(self.caller, name, username, password)
        duration_ms = round((time.monotonic() - started) * 1000)
        details = {"success": result.success, "with_password": password is not None}
        await self.audit.record(self.caller, action, "auth_provider", name, details)
        self.answer({"success": result.success, "message": result.message, "duration_ms": duration_ms})


class LdapTestHandler(TestHandler):
    @requires(ADMIN, body=LdapTestBody, answer=LdapTestAnswer, body_limit=SMALL_BODY, grows=False)
    async def post(self) -> None:
        """Try the LDAP configuration, and with a username (and password) that user's login."""
        await self.test(LDAP, "auth.ldap_test")


class ProviderTestHandler(TestHandler):
    @requires(ADMIN, body=LdapTestBody, answer=LdapTestAnswer, body_limit=SMALL_BODY, grows=False)
    async def post(self, name: str) -> None:
        """Try the configuration of a provider that takes passwords, as /api/auth/ldap/test does."""
        await self.test(name, "auth.provider_test")


ROUTES = (
    Route(path="/api/auth/providers", handler=ProviderListHandler),
    Route(path="/api/auth/login", handler=LoginHandler),
    Route(path="/api/auth/refresh", handler=RefreshHandler),
    Route(path="/api/auth/logout", handler=LogoutHandler),
    Route(path="/api/auth/me", handler=MeHandler),
    Route(path="/api/auth/ldap", handler=LdapLoginHandler),
    Route(path="/api/auth/ldap/test", handler=LdapTestHandler),
    Route(path="/api/auth/providers/:name/test", handler=ProviderTestHandler),
)
