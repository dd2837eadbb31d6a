"""The `parameters` of a backup task."""

from marshmallow import INCLUDE, RAISE, Schema, fields, validate


class BackupFilter(Schema):
    """The filter of a backup task: exact values; without a key all devices match.

    An unknown key is an error: a typo would match all.
    """

    class Meta:
        unknown = RAISE

    site = fields.String(validate=validate.Length(min=1, max=255))
    device_type = fields.String(validate=validate.Length(min=1, max=64))


class BackupParameters(Schema):
    """The parameters of a backup task. All are optional; other keys are kept as they are."""

    class Meta:
        unknown = INCLUDE

    snapshot_name = fields.String(
        allow_none=True,
        validate=validate.Length(max=255),
        metadata={"label": "Snapshot", "description": "What the snapshots are called; else as the task."},
    )
    device_filter = fields.Nested(BackupFilter, allow_none=True)
    credential_id = fields.UUID(allow_none=True, metadata={"reference": "credential", "label": "Credential"})
