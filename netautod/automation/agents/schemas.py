"""The check of a command against the grammar of a platform."""

from marshmallow import fields, validate

from netautod.core.schema.bases import Answer, Request


class CheckRequest(Request):
    platform = fields.String(required=True, validate=validate.Regexp(r"^[a-z0-9_]{1,64}$"))
    command = fields.String(required=True, validate=validate.Length(min=1, max=4096))


class CheckAnswer(Answer):
    allowed = fields.Boolean()
    reason = fields.String(allow_none=True)
    canonical = fields.String(allow_none=True)
