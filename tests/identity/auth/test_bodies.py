"""The bodies of authentication requests: required fields, and fields that may not be empty."""

from typing import Any

import pytest
from marshmallow import Schema, ValidationError

from netautod.identity.auth import schemas

BODIES: list[tuple[type[Schema], dict[str, Any], set[str]]] = [
    (schemas.LoginBody, {"username": "a", "password": "b"}, {"username", "password"}),
    (schemas.LdapTestBody, {"username": "a", "password": "b"}, set()),
    (schemas.RefreshBody, {"refresh_token": "a"}, {"refresh_token"}),
    (
        schemas.PasswordBody,
        {"current_password": "a", "new_password": "b"},
        {"current_password", "new_password"},
    ),
    (schemas.OtpBody, {"password": "a"}, {"password"}),
    (schemas.OtpCodeBody, {"code": "a"}, {"code"}),
    (schemas.OtpEndBody, {"code": "a", "password": "b"}, {"code", "password"}),
]


@pytest.mark.parametrize(
    ("schema", "body", "required"), BODIES, ids=lambda found: getattr(found, "__name__", "")
)
def test_what_may_be_missing_or_empty(schema: type[Schema], body: dict[str, Any], required: set[str]) -> None:
    assert body.items() <= schema().load(body).items()
    for name in body:
        with pytest.raises(ValidationError) as failed:
            schema().load({**body, name: ""})
        assert list(failed.value.messages_dict) == [name]
    missing = set(schema().validate({}))
    assert missing == required
