"""Requests, queries and answers of /api/config."""

from marshmallow import fields

from netautod.http.schema import (
    Answer,
    Id,
    PageAnswer,
    Query,
    QueryBoolean,
    QueryInteger,
    Request,
    Timestamp,
)

INT32_MAX = 2**31 - 1


class ReadQuery(Query):
    secrets = QueryBoolean(load_default=False)


class DiffQuery(ReadQuery):
    old_version = QueryInteger(low=1, cap=INT32_MAX, load_default=None)
    new_version = QueryInteger(low=1, cap=INT32_MAX, load_default=None)


class BulkPullRequest(Request):
    device_ids = fields.List(Id(), required=True)


class ConfigItem(Answer):
    id = Id()
    device_id = Id()
    org_id = Id()
    version = fields.Integer()
    config_hash = fields.String()
    config_format = fields.String()
    source = fields.String()
    pulled_via = fields.String()
    created_by = Id()
    created_at = Timestamp()
    last_seen_at = Timestamp()
    size = fields.Integer()
    notes = fields.String(allow_none=True)


class ConfigAnswer(ConfigItem):
    config_text = fields.String()


class PullAnswer(ConfigItem):
    changed = fields.Boolean()


class ConfigsAnswer(PageAnswer):
    configs = fields.List(fields.Nested(ConfigItem))


class DiffAnswer(Answer):
    old_version = fields.Integer()
    new_version = fields.Integer()
    old_format = fields.String()
    new_format = fields.String()
    identical = fields.Boolean()
    diff = fields.String()
    additions = fields.Integer()
    deletions = fields.Integer()


class BulkPullError(Answer):
    device_id = Id()
    device_name = fields.String(allow_none=True)
    error = fields.String()


class BulkPullAnswer(Answer):
    succeeded = fields.Integer()
    failed = fields.Integer()
    errors = fields.List(fields.Nested(BulkPullError))


class SnapshotItem(Answer):
    id = Id()
    name = fields.String()
    task_id = Id()
    execution_id = Id()
    created_at = Timestamp()
    devices_total = fields.Integer()
    succeeded = fields.Integer()
    failed = fields.Integer()


class SnapshotsAnswer(PageAnswer):
    snapshots = fields.List(fields.Nested(SnapshotItem))


class SnapshotConfigAnswer(Answer):
    device_id = Id()
    device_name = fields.String()
    config_id = Id()
    version = fields.Integer()
    config_hash = fields.String()


class SnapshotAnswer(SnapshotItem):
    configs = fields.List(fields.Nested(SnapshotConfigAnswer))
