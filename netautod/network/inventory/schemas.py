"""Requests and answers of saved inventory sources; tokens are taken, never answered."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.schema.bases import Answer, Boolean, Id, Integer, Name, Request, Timestamp
from netautod.network.inventory import filters
from netautod.network.inventory.models import FAILED, PARTIAL, SUCCESS
from netautod.transport.outbound.errors import AddressRefused
from netautod.transport.outbound.urls import origin_of

TOKEN_FORM = re.compile(r"[\x21-\x7e]{1,4096}")  # it becomes a header
_PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_HOST = r"([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])"
HTTP_URL = rf'^https?://{_HOST}(:{_PORT})?(/[!-"$->@-\[\]-~]*)?$'
HOURS = validate.Range(1, 8760)


class Url(fields.String):
    """An http or https address without a query; loaded without trailing slashes."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": HTTP_URL}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        url = str(super()._deserialize(value, attr, data, **kwargs)).strip().rstrip("/")
        try:
            origin_of(url)
        except AddressRefused as error:
            raise ValidationError(error.text) from error
        if "?" in url or "#" in url:
            raise ValidationError("Must not have a query or a fragment.")
        return url


class Token(fields.String):
    """A trimmed API token."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": rf"^{TOKEN_FORM.pattern}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        token = str(super()._deserialize(value, attr, data, **kwargs)).strip()
        if not TOKEN_FORM.fullmatch(token):
            raise ValidationError("Must consist of 1 to 4096 printable ASCII characters without spaces.")
        return token


_SLUG = {"type": "string", "maxLength": filters.LONGEST, "pattern": r"^[!-~]([ -~]*[!-~])?$"}
_SLUGS = {"type": ["array", "null"], "maxItems": filters.MOST_SLUGS, "items": _SLUG}
_ONE_SLUG = {"anyOf": [_SLUG, {"type": "string", "enum": [""]}, {"type": "null"}]}


class InventoryFilters(fields.Dict):
    """The keys of filters.py; loaded in one form, with the single texts of older clients merged in."""

    described: ClassVar[Mapping[str, Any]] = {
        "properties": {
            **dict.fromkeys(filters.LISTS, _SLUGS),
            **dict.fromkeys((*filters.LEGACY, "name"), _ONE_SLUG),
        },
        "additionalProperties": False,
    }
    names = filters.NAMES
    most_bytes = filters.MOST_BYTES

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        found, wrong = filters.merged(value)
        if wrong:
            raise ValidationError(wrong)
        return found


class SourceRequest(Request):
    read_only = frozenset(
        {
            "id",
            "org_id",
            "has_token",
            "last_sync_at",
            "last_sync_status",
            "last_sync_result",
            "next_sync_at",
            "created_at",
            "updated_at",
        }
    )
    example: ClassVar[Mapping[str, Any]] = {"name": "inventory"}
    name = Name(required=True)
    url = Url(required=True)
    token = Token(required=True, load_only=True)
    verify_ssl = Boolean()
    device_filters = InventoryFilters()
    auto_sync_enabled = Boolean()
    sync_interval_hours = Integer(validate=HOURS)


class SyncErrorAnswer(Answer):
    inventory_id = fields.Integer(allow_none=True)
    name = fields.String(allow_none=True)
    error = fields.String()


class SyncCountsAnswer(Answer):
    added = fields.Integer()
    updated = fields.Integer()
    unchanged = fields.Integer()
    failed = fields.Integer()
    removed = fields.Integer()
    errors = fields.List(fields.Nested(SyncErrorAnswer))
    duration_ms = fields.Integer()


class SourceAnswer(Answer):
    id = Id()
    org_id = Id()
    name = fields.String()
    url = fields.String()
    verify_ssl = fields.Boolean()
    device_filters = fields.Dict()
    auto_sync_enabled = fields.Boolean()
    sync_interval_hours = fields.Integer()
    has_token = fields.Boolean()
    last_sync_at = Timestamp(allow_none=True)
    last_sync_status = fields.String(
        allow_none=True, validate=validate.OneOf([SUCCESS, PARTIAL, FAILED, None])
    )
    last_sync_result = fields.Nested(SyncCountsAnswer, allow_none=True)
    next_sync_at = Timestamp(allow_none=True)
    created_at = Timestamp()
    updated_at = Timestamp()


class SourcesAnswer(Answer):
    sources = fields.List(fields.Nested(SourceAnswer))


class SourceDeletedAnswer(Answer):
    message = fields.String()
