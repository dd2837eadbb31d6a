"""Request and answer schemas of authentication."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.clock import whole_milliseconds
from netautod.core.identity.caller import Caller
from netautod.core.json.values import optional_text
from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    Name,
    PageAnswer,
    Query,
    QueryTimestamp,
    Request,
    ShortList,
    Text,
    Timestamp,
)
from netautod.identity.auth.models import ADMIN_UI, CLIENT_TYPES, NEVER
from netautod.identity.auth.providers.registry import KINDS
from netautod.identity.users.models import LOCAL
from netautod.identity.users.schemas import MOST_PERMISSIONS, CurrentUserAnswer, Permission

# A client may not make the service decode a megabyte of JSON before a login.
SMALL_BODY = 64 * 1024


class UsedTokenAnswer(Answer):
    id = Id()
    name = fields.String()
    expires_at = Timestamp(allow_none=True)


def used_token() -> fields.Nested:
    """Build the field `token` of an answer; left out if the caller has a session."""
    return fields.Nested(UsedTokenAnswer, metadata={"x-optional": True})


def token_view(caller: Caller) -> dict[str, Any]:
    """Return the token and its permissions, cut to the owner's; empty for a session."""
    token = caller.token
    if token is None:
        return {}
    shown = {"id": token.id, "name": token.name, "expires_at": optional_text(token.expires_at)}
    return {"permissions": sorted(caller.permissions), "token": shown}


class LoginBody(Request):
    username = fields.String(required=True, validate=validate.Length(min=1, max=255))
    password = fields.String(required=True, validate=validate.Length(min=1))
    client_type = fields.String(load_default=ADMIN_UI, validate=validate.OneOf(CLIENT_TYPES))
    public_key = Text(max_length=16384)
    otp = Text(max_length=64)


class ProviderLoginBody(LoginBody):
    """The body of a login. `provider`: the name of one that takes passwords."""

    provider = fields.String(load_default=LOCAL, validate=validate.Length(min=1, max=64))


class LdapTestBody(Request):
    example: ClassVar[Mapping[str, Any]] = {"username": "ada"}
    username = fields.String(validate=validate.Length(min=1, max=255))
    password = fields.String(validate=validate.Length(min=1, max=1024))


class RefreshBody(Request):
    refresh_token = fields.String(required=True, validate=validate.Length(min=1, max=4096))


class LogoutBody(Request):
    """The body of a logout: clients send the token that they hold, and all of the user's are revoked."""

    refresh_token = fields.String()


class PasswordBody(Request):
    current_password = fields.String(required=True, validate=validate.Length(min=1))
    new_password = fields.String(required=True, validate=validate.Length(min=1))
    keep_api_tokens = Boolean(load_default=False)


class OtpBody(Request):
    """The body for new codes. `code`: one of the active codes, which are to be replaced."""

    password = fields.String(required=True, validate=validate.Length(min=1))
    code = Text(max_length=64)


class OtpCodeBody(Request):
    code = fields.String(required=True, validate=validate.Length(min=1, max=64))


class OtpEndBody(OtpCodeBody):
    password = fields.String(required=True, validate=validate.Length(min=1))


class Moment(QueryTimestamp):
    """An ISO 8601 date and time with an offset, cut to milliseconds."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = fields.String._deserialize(self, value, attr, data, **kwargs)
        try:
            return whole_milliseconds(super()._deserialize(text, attr, data, **kwargs))
        except OverflowError as error:  # year 1 or 9999 in a foreign offset
            raise ValidationError("Not an ISO 8601 date and time.") from error


class MomentOrNever(Moment):
    """A moment, or the word `never`."""

    described: ClassVar[Mapping[str, Any]] = {
        "anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "enum": [NEVER]}]
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return NEVER if value == NEVER else super()._deserialize(value, attr, data, **kwargs)


class ApiTokenBody(Request):
    read_only = frozenset({"id", "created_at", "last_used_at"})
    name = Name(required=True)
    permissions = ShortList(Permission(), required=True, most=MOST_PERMISSIONS)
    expires_at = MomentOrNever(allow_none=True)


class SessionQuery(Query):
    user_id = Id()


class SshCertificateAnswer(Answer):
    certificate = fields.String()
    ca_public_key = fields.String()
    valid_after = Timestamp()
    valid_before = Timestamp()
    serial = fields.Integer()


class TokenAnswer(Answer):
    access_token = fields.String()
    refresh_token = fields.String()
    token_type = fields.String(validate=validate.Equal("Bearer"))
    expires_in = fields.Integer()
    # Only where the login brought a public_key.
    ssh_certificate = fields.Nested(SshCertificateAnswer, metadata={"x-optional": True})


class NewOtpAnswer(Answer):
    secret = fields.String()
    otpauth_uri = fields.String()
    recovery_codes = fields.List(fields.String())


class LdapTestAnswer(Answer):
    success = fields.Boolean()
    message = fields.String()
    duration_ms = fields.Integer()


class MeAnswer(CurrentUserAnswer):
    token = used_token()


class LogoutAnswer(Answer):
    message = fields.String()
    sessions_revoked = fields.Integer()


class ProviderAnswer(Answer):
    name = fields.String()
    enabled = fields.Boolean()
    kinds = fields.List(fields.String(validate=validate.OneOf(KINDS)))


class ProviderListAnswer(Answer):
    providers = fields.List(fields.Nested(ProviderAnswer))


class SessionAnswer(Answer):
    id = Id()
    user_id = Id()
    client_type = fields.String(validate=validate.OneOf(CLIENT_TYPES))
    auth_provider = fields.String()
    ip_address = fields.String()
    user_agent = fields.String()
    created_at = Timestamp()
    last_activity_at = Timestamp()
    expires_at = Timestamp()
    current = fields.Boolean()


class SessionListAnswer(Answer):
    sessions = fields.List(fields.Nested(SessionAnswer))


class ApiTokenAnswer(Answer):
    id = Id()
    name = fields.String()
    permissions = fields.List(fields.String())
    created_at = Timestamp()
    expires_at = Timestamp(allow_none=True)
    last_used_at = Timestamp(allow_none=True)


class NewApiTokenAnswer(ApiTokenAnswer):
    token = fields.String()


class ApiTokenListAnswer(PageAnswer):
    tokens = fields.List(fields.Nested(ApiTokenAnswer))
