"""/api/auth: the logins with a password, refresh, logout, me and the providers."""

import time

from netautod.audit.service import AuditLog
from netautod.auth.models import LoginRequest
from netautod.auth.schemas import (
    SMALL_BODY,
    LdapTestAnswer,
    LdapTestBody,
    LoginBody,
    LogoutAnswer,
    MeAnswer,
    ProviderListAnswer,
    RefreshBody,
    TokenAnswer,
)
from netautod.auth.service import AuthService
from netautod.auth.token_view import token_view
from netautod.http.access import any_token, public, requires
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route
from netautod.users.models import LDAP, LOCAL

REFUSED = (401, 403, 409)  # a wrong password, a user who may not, no seat left


class AuthHandler(JsonHandler):
    auth: AuthService


class ProviderListHandler(AuthHandler):
    @public(answer=ProviderListAnswer)
    async def get(self) -> None:
        """The ways to log in, and which of them are enabled."""
        enabled = self.auth.providers.enabled
        self.answer({"providers": [{"name": name, "enabled": enabled[name]} for name in enabled]})


class LoginHandler(AuthHandler):
    @public(body=LoginBody, answer=TokenAnswer, body_limit=SMALL_BODY, errors=REFUSED, grows=False)
    async def post(self) -> None:
        """Logs in with a local username and password."""
        tokens = await self.auth.login(LOCAL, LoginRequest(**self.body), self.info)
        self.answer(tokens.to_json())


class RefreshHandler(AuthHandler):
    # The session goes on; its login, its end and a reused token are the events.
    @public(body=RefreshBody, answer=TokenAnswer, body_limit=SMALL_BODY, errors=REFUSED, changes=False)
    async def post(self) -> None:
        """Trades a refresh token, once, for a new pair of tokens."""
        tokens = await self.auth.refresh(self.body["refresh_token"], self.info)
        self.answer(tokens.to_json())


class LogoutHandler(AuthHandler):
    @any_token(answer=LogoutAnswer, grows=False)
    async def post(self) -> None:
        """Ends this session and revokes all of the user's refresh tokens."""
        ended = await self.auth.logout(self.caller)
        self.answer({"message": "Logged out", "sessions_revoked": ended})


class MeHandler(AuthHandler):
    @any_token(answer=MeAnswer)
    async def get(self) -> None:
        """The current user with roles and permissions; of an API token, what it may do, and the token."""
        user = await self.auth.current_user(self.caller)
        self.answer({**user.to_json(), **token_view(self.caller)})


class LdapLoginHandler(AuthHandler):
    @public(body=LoginBody, answer=TokenAnswer, body_limit=SMALL_BODY, errors=REFUSED, grows=False)
    async def post(self) -> None:
        """Logs in with a username and password of the LDAP directory."""
        tokens = await self.auth.login(LDAP, LoginRequest(**self.body), self.info)
        self.answer(tokens.to_json())


class LdapTestHandler(AuthHandler):
    audit: AuditLog

    @requires("system.manage", body=LdapTestBody, answer=LdapTestAnswer, body_limit=SMALL_BODY, grows=False)
    async def post(self) -> None:
        """Tries the LDAP configuration, and with a username (and password) that user's login."""
        provider = self.auth.providers.testable(LDAP)
        username, password = self.body.get("username"), self.body.get("password")
        started = time.monotonic()
        result = await provider.probe(username, password)
        duration_ms = round((time.monotonic() - started) * 1000)
        details = {"success": result.success, "with_password": password is not None}
        await self.audit.record(self.caller, "auth.ldap_test", "auth_provider", None, details)
        self.answer({"success": result.success, "message": result.message, "duration_ms": duration_ms})


ROUTES = (
    Route(path="/api/auth/providers", handler=ProviderListHandler),
    Route(path="/api/auth/login", handler=LoginHandler),
    Route(path="/api/auth/refresh", handler=RefreshHandler),
    Route(path="/api/auth/logout", handler=LogoutHandler),
    Route(path="/api/auth/me", handler=MeHandler),
    Route(path="/api/auth/ldap", handler=LdapLoginHandler),
    Route(path="/api/auth/ldap/test", handler=LdapTestHandler),
)
