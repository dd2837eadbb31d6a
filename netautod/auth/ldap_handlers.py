"""/api/auth/ldap: login through a directory, and the administrator's test of its configuration."""

import time

from marshmallow import fields, validate

from netautod.audit.service import AuditLog
from netautod.auth.models import LoginRequest
from netautod.auth.schemas import LoginBody, TokenAnswer
from netautod.auth.service import AuthService
from netautod.core.schema import Answer, Request
from netautod.http.access import public, requires
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route

LDAP = "ldap"
SMALL_BODY = 64 * 1024


class LdapTestBody(Request):
    username = fields.String(validate=validate.Length(min=1, max=255))
    password = fields.String(validate=validate.Length(min=1, max=1024))


class LdapTestAnswer(Answer):
    success = fields.Boolean()
    message = fields.String()
    duration_ms = fields.Integer()


class LdapLoginHandler(JsonHandler):
    auth: AuthService

    @public(body=LoginBody, answer=TokenAnswer, body_limit=SMALL_BODY)
    async def post(self) -> None:
        """Logs in with a username and password of the LDAP directory."""
        tokens = await self.auth.login(LDAP, LoginRequest(**self.body), self.info)
        self.answer(tokens.to_json())


class LdapTestHandler(JsonHandler):
    auth: AuthService
    audit: AuditLog

    @requires("system.manage", body=LdapTestBody, answer=LdapTestAnswer, body_limit=SMALL_BODY)
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
    Route(path="/api/auth/ldap", handler=LdapLoginHandler),
    Route(path="/api/auth/ldap/test", handler=LdapTestHandler),
)
