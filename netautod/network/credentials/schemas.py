"""Requests and answers of /api/credentials; secrets are taken and never answered."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    Integer,
    Name,
    PageAnswer,
    Request,
    ShortList,
    Text,
    Timestamp,
)
from netautod.network.credentials import rules
from netautod.network.credentials.hosts import GLOB, is_entry

SECRET_LENGTH = 65_536
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_GROUPS = "(([0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{1,4})?"
NETWORK = (
    rf"^{_OCTET}(\.{_OCTET}){{3}}/([0-9]|[12][0-9]|3[0-2])$"
    rf"|^(([0-9A-Fa-f]{{1,4}}:){{7}}[0-9A-Fa-f]{{1,4}}|{_GROUPS}::{_GROUPS})/([1-9]?[0-9]|1[01][0-9]|12[0-8])$"
)


class Username(Text):
    """A trimmed login name."""

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        tidy = value.strip() if isinstance(value, str) else value
        return super().deserialize(tidy, attr, data, **kwargs)


class Protocol(Text):
    """A field for one of the known protocols, in any of its usual spellings; loaded as `SHA256`, `AES128`."""

    def __init__(self, known: Sequence[str], **options: Any) -> None:
        super().__init__(metadata={"enum": [*known, None]}, **options)
        self._known = known

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        found = rules.protocol(str(super()._deserialize(value, attr, data, **kwargs)), self._known)
        if found is None:
            raise ValidationError(f"Must be one of: {', '.join(self._known)}.")
        return found


class HostEntry(fields.String):
    """An address, a network, or a glob of host names."""

    described: ClassVar[Mapping[str, Any]] = {
        "maxLength": 253,
        "anyOf": [
            {"type": "string", "pattern": rf"^{GLOB.pattern}$"},
            {"type": "string", "pattern": NETWORK},
        ],
    }

    def __init__(self) -> None:
        super().__init__(validate=_check_entry)


def _check_entry(text: str) -> None:
    if not is_entry(text):
        raise ValidationError("Must be an address, a network (CIDR) or a host name with * and ?.")


class CredentialRequest(Request):
    read_only = frozenset(
        {"id", "org_id", "has_secret", "has_passphrase", "has_enable_secret", "created_at", "updated_at"}
    )
    example: ClassVar[Mapping[str, Any]] = {
        "name": "switches",
        "username": "backup",
        "secret": "the password of the switches",
    }
    name = Name(required=True)
    description = Text()
    credential_type = fields.String(required=True, validate=validate.OneOf(sorted(rules.TYPES)))
    username = Username(max_length=255)
    port = Integer(allow_none=True, validate=validate.Range(1, 65535))
    allowed_hosts = ShortList(HostEntry(), most=256)
    is_default = Boolean()
    use_certificate = Boolean()
    secret = Text(max_length=SECRET_LENGTH, load_only=True)
    passphrase = Text(max_length=1024, load_only=True)
    enable_secret = Text(max_length=1024, load_only=True)
    auth_protocol = Protocol(rules.AUTH_PROTOCOLS, load_only=True)
    auth_key = Text(max_length=1024, load_only=True)
    priv_protocol = Protocol(rules.PRIV_PROTOCOLS, load_only=True)
    priv_key = Text(max_length=1024, load_only=True)


class CredentialAnswer(Answer):
    id = Id()
    name = fields.String()
    description = fields.String(allow_none=True)
    credential_type = fields.String(validate=validate.OneOf(sorted(rules.TYPES)))
    username = fields.String(allow_none=True)
    port = fields.Integer(allow_none=True)
    allowed_hosts = fields.List(fields.String())
    has_secret = fields.Boolean()
    has_passphrase = fields.Boolean()
    has_enable_secret = fields.Boolean()
    is_default = fields.Boolean()
    use_certificate = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()


class CredentialsAnswer(PageAnswer):
    credentials = fields.List(fields.Nested(CredentialAnswer))
