"""Requests and answers of /api/webhooks; a secret is accepted, never answered."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Integer,
    Name,
    PageAnswer,
    Request,
    ShortList,
    Text,
    Timestamp,
)
from netautod.transport.outbound.errors import AddressRefused
from netautod.transport.outbound.urls import MAX_LENGTH, origin_of

SHORTEST_SECRET, LONGEST_SECRET = 16, 1024
MOST_EVENTS = 100
STATUSES = ("waiting", "delivered", "failed", "expired")


class Url(fields.String):
    """A trimmed http or https address."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": r"^https?://"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        url = str(super()._deserialize(value, attr, data, **kwargs)).strip()
        try:
            origin_of(url)
        except AddressRefused as error:
            raise ValidationError(error.text) from error
        return url


def _long_enough(text: str | None) -> None:
    if text is not None and len(text) < SHORTEST_SECRET:
        raise ValidationError(f"Must have {SHORTEST_SECRET} characters at least.")


class WebhookRequest(Request):
    read_only = frozenset(
        {
            "id",
            "org_id",
            "disabled_reason",
            "has_secret",
            "created_at",
            "updated_at",
            "last_delivery_at",
            "last_status",
        }
    )
    name = Name(required=True)
    url = Url(required=True, metadata={"maxLength": MAX_LENGTH})
    events = ShortList(fields.String(metadata={"x-choices": "event"}), most=MOST_EVENTS, required=True)
    enabled = Boolean()
    secret = Text(
        max_length=LONGEST_SECRET,
        load_only=True,
        validate=_long_enough,
        metadata={"minLength": SHORTEST_SECRET},
    )


class WebhookAnswer(Answer):
    id = fields.String()
    name = fields.String()
    url = fields.String()
    events = fields.List(fields.String())
    enabled = fields.Boolean()
    disabled_reason = fields.String(allow_none=True)
    has_secret = fields.Boolean()
    created_at = Timestamp()
    updated_at = Timestamp()
    last_delivery_at = Timestamp(allow_none=True)
    last_status = fields.String(allow_none=True, validate=validate.OneOf([*STATUSES, None]))


class WebhooksAnswer(PageAnswer):
    webhooks = fields.List(fields.Nested(WebhookAnswer))


class TestAnswer(Answer):
    __test__ = False  # for pytest

    success = fields.Boolean()
    status = Integer(allow_none=True)
    error = fields.String(allow_none=True)
    duration_ms = fields.Integer()


class DeliveryAnswer(Answer):
    id = fields.String()
    event = fields.String()
    at = Timestamp()
    attempts = fields.Integer()
    status = fields.String(validate=validate.OneOf(STATUSES))
    response_status = Integer(allow_none=True)
    error = fields.String(allow_none=True)


class DeliveriesAnswer(PageAnswer):
    deliveries = fields.List(fields.Nested(DeliveryAnswer))
