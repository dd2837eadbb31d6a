"""The counts of backup states as answers describe them."""

from marshmallow import fields

from netautod.core.schema.bases import Answer


class BackupCountsAnswer(Answer):
    """A device is one of `success`, `failed` (`by_kind` of the failure) and `never`; `stale` comes on top."""

    success = fields.Integer()
    failed = fields.Integer()
    never = fields.Integer()
    stale = fields.Integer()
    by_kind = fields.Dict(keys=fields.String(), values=fields.Integer())
