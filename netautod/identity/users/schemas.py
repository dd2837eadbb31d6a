"""Request and answer schemas of users and roles."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    Name,
    PageAnswer,
    Request,
    ShortList,
    Text,
    Timestamp,
)
from netautod.identity.users.models import LOCAL, USERNAME_FORM
from netautod.identity.users.principals import FORM, MOST
from netautod.identity.users.provider_names import FORM_TEXT, PROVIDER_FORM

MOST_PERMISSIONS = 500
LONGEST_PERMISSION = 256
READ_ONLY = frozenset(
    {
        "id",
        "org_id",
        "permissions",
        "otp_enabled",
        "created_at",
        "updated_at",
        "last_login_at",
        "group_warning",
    }
)


class ProviderName(fields.String):
    """The name of an auth provider; the service checks whether it exists."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": rf"^{PROVIDER_FORM.pattern}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        name = str(super()._deserialize(value, attr, data, **kwargs))
        if not PROVIDER_FORM.fullmatch(name):
            raise ValidationError(f"Not the name of an auth provider: {FORM_TEXT}.")
        return name


class UserCreate(Request):
    read_only = READ_ONLY
    example: ClassVar[Mapping[str, Any]] = {
        "username": "ada",
        "password": "a longer passphrase 2026",
        "email": "ada@example.com",
    }
    username = fields.String(required=True, metadata={"pattern": rf"^\s*{USERNAME_FORM.pattern}\s*$"})
    password = fields.String()
    auth_provider = ProviderName(load_default=LOCAL)
    external_id = Text(max_length=1024)
    email = Text(max_length=254, validate=validate.Email(), metadata={"format": "email"})
    display_name = Text(max_length=255)
    roles = ShortList(Name(), required=True, most=100)
    is_active = Boolean(load_default=True)
    ssh_principals = ShortList(fields.String(metadata={"pattern": rf"^{FORM.pattern}$"}), most=MOST)
    must_change_password = Boolean(load_default=False)


class UserUpdate(UserCreate):
    """The body of a PUT; `username` and `auth_provider` must equal the stored ones."""

    example: ClassVar[Mapping[str, Any]] = {"display_name": "Ada Lovelace", "roles": ["operator"]}


class CurrentUserAnswer(Answer):
    id = Id()
    org_id = Id()
    username = fields.String()
    email = fields.String(allow_none=True)
    display_name = fields.String(allow_none=True)
    roles = fields.List(fields.String())
    permissions = fields.List(fields.String())
    is_active = fields.Boolean()
    auth_provider = fields.String()  # also of a provider that is not there any more
    must_change_password = fields.Boolean()
    otp_enabled = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()


class UserAnswer(CurrentUserAnswer):
    ssh_principals = fields.List(fields.String())
    last_login_at = Timestamp(allow_none=True)
    group_warning = fields.String(
        allow_none=True,
        metadata={"description": "Why the roles stay as they are: the directory did not tell all groups."},
    )


class UserListAnswer(PageAnswer):
    users = fields.List(fields.Nested(UserAnswer))


class Permission(fields.String):
    """A permission key, or a wildcard; the service checks whether it exists (PermissionKeys)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **options,
            validate=validate.Length(max=LONGEST_PERMISSION),
            metadata={"x-choices": "permission"},
        )


class RoleRequest(Request):
    read_only = frozenset({"id", "org_id", "builtin", "created_at", "updated_at"})
    example: ClassVar[Mapping[str, Any]] = {"name": "auditors"}
    name = Name(required=True)
    description = Text()
    permissions = ShortList(Permission(), required=True, most=MOST_PERMISSIONS)


class RoleAnswer(Answer):
    id = Id()
    name = fields.String()
    description = fields.String(allow_none=True)
    permissions = fields.List(fields.String())
    builtin = fields.Boolean()


class RoleListAnswer(PageAnswer):
    roles = fields.List(fields.Nested(RoleAnswer))
