"""Request and answer schemas of authentication."""

from marshmallow import fields, validate

from netautod.auth.models import ADMIN_UI, CLIENT_TYPES
from netautod.http.schema import Answer, Request, Text
from netautod.users.models import AUTH_PROVIDERS


class LoginBody(Request):
    username = fields.String(required=True, validate=validate.Length(min=1, max=255))
    password = fields.String(required=True, validate=validate.Length(min=1))
    client_type = fields.String(load_default=ADMIN_UI, validate=validate.OneOf(CLIENT_TYPES))
    public_key = Text(max_length=16384)


class RefreshBody(Request):
    refresh_token = fields.String(required=True, validate=validate.Length(min=1, max=4096))


class TokenAnswer(Answer):
    access_token = fields.String()
    refresh_token = fields.String()
    token_type = fields.String(validate=validate.Equal("Bearer"))
    expires_in = fields.Integer()


class LogoutAnswer(Answer):
    message = fields.String()
    sessions_revoked = fields.Integer()


class ProviderAnswer(Answer):
    name = fields.String(validate=validate.OneOf(AUTH_PROVIDERS))
    enabled = fields.Boolean()


class ProviderListAnswer(Answer):
    providers = fields.List(fields.Nested(ProviderAnswer))
