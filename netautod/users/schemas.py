"""Request and answer schemas of users."""

from marshmallow import fields, validate

from netautod.http.schema import Answer, Boolean, Id, Name, PageAnswer, Request, Text, Timestamp
from netautod.users.models import AUTH_PROVIDERS, LOCAL

READ_ONLY = frozenset({"id", "org_id", "permissions", "created_at", "updated_at", "last_login_at"})


class UserCreate(Request):
    read_only = READ_ONLY
    username = fields.String(required=True)
    password = fields.String()
    auth_provider = fields.String(load_default=LOCAL, validate=validate.OneOf(AUTH_PROVIDERS))
    external_id = Text(max_length=1024)
    email = Text(max_length=254, validate=validate.Email())
    display_name = Text(max_length=255)
    roles = fields.List(Name(), required=True, validate=validate.Length(max=100))
    is_active = Boolean(load_default=True)


class CurrentUserAnswer(Answer):
    id = Id()
    org_id = Id()
    username = fields.String()
    email = fields.String(allow_none=True)
    display_name = fields.String(allow_none=True)
    roles = fields.List(fields.String())
    permissions = fields.List(fields.String())
    is_active = fields.Boolean()
    auth_provider = fields.String(validate=validate.OneOf(AUTH_PROVIDERS))
    created_at = Timestamp()
    updated_at = Timestamp()


class UserAnswer(CurrentUserAnswer):
    last_login_at = Timestamp(allow_none=True)


class UserListAnswer(PageAnswer):
    users = fields.List(fields.Nested(UserAnswer))
