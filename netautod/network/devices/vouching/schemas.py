"""Requests and answers of vouching for devices."""

from marshmallow import fields

from netautod.core.schema.bases import Answer, Id, Ids, Request


class VouchRequest(Request):
    device_ids = Ids(required=True)


class VouchErrorAnswer(Answer):
    device_id = Id()
    error = fields.String()


class VouchedAnswer(Answer):
    vouched = fields.Integer()
    failed = fields.Integer()
    errors = fields.List(fields.Nested(VouchErrorAnswer))
