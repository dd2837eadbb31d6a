"""Requests, queries and answers of /api/config."""

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

from marshmallow import ValidationError, fields, validate, validates, validates_schema

from netautod.core.schema.bases import (
    Answer,
    Id,
    Ids,
    PageAnswer,
    PageQuery,
    Query,
    QueryBoolean,
    QueryInteger,
    Request,
    Text,
    Timestamp,
)
from netautod.network.configs.backups.models import SORTINGS, STALE, STATUSES, UNKNOWN_KIND
from netautod.network.configs.backups.schemas import BackupCountsAnswer
from netautod.network.devices.schemas import DEVICE_TYPE, DeviceItemAnswer, DeviceQuery, Label
from netautod.transport.ssh.failures import FailureKind

INT32_MAX = 2**31 - 1
LONGEST_PATTERN = 1000
KINDS = (*get_args(FailureKind), UNKNOWN_KIND)
MOST_HOURS = 876_000  # a hundred years


class ReadQuery(Query):
    secrets = QueryBoolean(load_default=False)


class DiffQuery(ReadQuery):
    old_version = QueryInteger(low=1, cap=INT32_MAX, load_default=None)
    new_version = QueryInteger(low=1, cap=INT32_MAX, load_default=None)
    context = QueryInteger(low=0, high=1000, load_default=3)
    format = fields.String(load_default="unified", validate=validate.OneOf(("unified", "side_by_side")))


class DiffDevicesQuery(DiffQuery):
    old_device_id = Id(required=True)
    new_device_id = Id(required=True)


class BulkPullRequest(Request):
    device_ids = Ids(required=True)


class BulkPullQuery(Query):
    background = QueryBoolean(load_default=False)


class ConfigsQuery(Query):
    limit = QueryInteger(
        low=1, cap=100, load_default=None, metadata={"description": "Without it all are listed."}
    )
    offset = QueryInteger(low=0, load_default=0)


ONE_OF_BOTH = {"minLength": 1, "description": "Either `q`, a text, or `regex`, an expression of RE2."}


class SearchQuery(PageQuery):
    q = Text(max_length=LONGEST_PATTERN, metadata=ONE_OF_BOTH)
    regex = Text(max_length=LONGEST_PATTERN, metadata=ONE_OF_BOTH)
    device_type = fields.String(validate=DEVICE_TYPE)
    site = Label()
    context = QueryInteger(low=0, high=10, load_default=0)
    group = fields.String(load_default=None, validate=validate.OneOf(("line",)))
    secrets = fields.String(metadata={"description": "Refused: searches are always redacted.", "not": {}})

    @validates("secrets")
    def _always_redacted(self, value: str, **kwargs: Any) -> None:
        raise ValidationError("a search is always redacted; read the versions that it finds instead")

    @validates_schema
    def _one_of_both(self, data: Mapping[str, Any], **kwargs: Any) -> None:
        if (data.get("q") is None) == (data.get("regex") is None):
            raise ValidationError("exactly one of the two is needed", "q, regex")
        if "\n" in (data.get("q") or ""):
            raise ValidationError("lines are searched one by one: a line break is never found", "q")


class ConfigItem(Answer):
    id = Id()
    device_id = Id()
    org_id = Id()
    version = fields.Integer()
    config_hash = fields.String(allow_none=True)
    config_format = fields.String()
    source = fields.String()
    pulled_via = fields.String()
    created_by = Id()
    created_at = Timestamp()
    last_seen_at = Timestamp()
    size = fields.Integer(allow_none=True)
    notes = fields.String(allow_none=True)


class PartItem(Answer):
    name = fields.String()
    command = fields.String()
    size = fields.Integer(allow_none=True)


class PartAnswer(Answer):
    name = fields.String()
    command = fields.String()
    text = fields.String()


class ConfigAnswer(ConfigItem):
    config_text = fields.String()
    encoding = fields.String(validate=validate.OneOf(("utf-8", "latin-1")))
    parts = fields.List(fields.Nested(PartItem))
    learned_noise = fields.List(fields.String())


class NotesRequest(Request):
    read_only = frozenset({*ConfigAnswer().fields, "changed"}) - {"notes"}
    example: ClassVar[Mapping[str, Any]] = {"notes": "Before the move to the new building"}
    needed_in_change = ("notes",)
    notes = Text()


class PullAnswer(ConfigItem):
    changed = fields.Boolean()


class ConfigsAnswer(PageAnswer):
    configs = fields.List(fields.Nested(ConfigItem))


class DiffRowAnswer(Answer):
    """A row of a diff. Words are pairs of positions in the text, in characters: from, and to (not
    included)."""

    kind = fields.String(validate=validate.OneOf(("same", "changed", "added", "removed")))
    old_line = fields.Integer(allow_none=True)
    old_text = fields.String(allow_none=True)
    new_line = fields.Integer(allow_none=True)
    new_text = fields.String(allow_none=True)
    old_words = fields.List(fields.List(fields.Integer()))
    new_words = fields.List(fields.List(fields.Integer()))


class DiffHunkAnswer(Answer):
    section = fields.List(fields.String())
    rows = fields.List(fields.Nested(DiffRowAnswer))


class DiffAnswer(Answer):
    """A diff: `diff` for `unified`, `hunks` and `hidden_hunks` (too long to be shown) for `side_by_side`."""

    old_version = fields.Integer()
    new_version = fields.Integer()
    old_format = fields.String()
    new_format = fields.String()
    identical = fields.Boolean()
    diff = fields.String(metadata={"x-optional": True})
    hunks = fields.List(fields.Nested(DiffHunkAnswer), metadata={"x-optional": True})
    hidden_hunks = fields.Integer(metadata={"x-optional": True})
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


class PullerAnswer(Answer):
    id = fields.String()
    username = fields.String(allow_none=True)


class StartedPullAnswer(Answer):
    """The execution of a pull in the background: the fields of every execution, before it has begun."""

    id = Id()
    task_id = Id(allow_none=True)
    task_name = fields.String()
    task_type = fields.String()
    state = fields.String()
    triggered_by = fields.String()
    scheduled_for = Timestamp(allow_none=True)
    started_at = Timestamp(allow_none=True)
    completed_at = Timestamp(allow_none=True)
    error_message = fields.String(allow_none=True)
    retry_count = fields.Integer()
    cancelled_by = Id(allow_none=True)
    retry_of = Id(allow_none=True)
    created_at = Timestamp()
    output = fields.Raw(allow_none=True)
    attempts = fields.List(fields.Dict())
    approval = fields.Dict(allow_none=True)
    approval_request = fields.Dict(allow_none=True)
    approval_expires_at = Timestamp(allow_none=True)
    requested_by = fields.Nested(PullerAnswer)
    progress = fields.Dict(allow_none=True)


class LineMatchAnswer(Answer):
    device_id = Id()
    device_name = fields.String()
    version = fields.Integer()
    line_number = fields.Integer()
    line = fields.String()
    before = fields.List(fields.String(), metadata={"x-optional": True})
    after = fields.List(fields.String(), metadata={"x-optional": True})


class LineGroupAnswer(Answer):
    line = fields.String()
    devices = fields.Integer()
    matches = fields.List(fields.Nested(LineMatchAnswer))


class SearchAnswer(PageAnswer):
    """A result of a search: `matches`, or with `group` equal lines as `groups`; `total` counts the one or the
    other.
    """

    matches = fields.List(fields.Nested(LineMatchAnswer), metadata={"x-optional": True})
    groups = fields.List(fields.Nested(LineGroupAnswer), metadata={"x-optional": True})


class BackedUpDevicesQuery(DeviceQuery):
    """A query of devices by backup. `older_than_hours` counts from the last good backup, or from the creation
    of the device.
    """

    status = fields.String(validate=validate.OneOf((*STATUSES, STALE)))
    error_kind = fields.String(validate=validate.OneOf(KINDS))
    older_than_hours = QueryInteger(low=0, high=MOST_HOURS)
    sort = fields.String(load_default="name", validate=validate.OneOf(SORTINGS))


class BackedUpDeviceAnswer(DeviceItemAnswer):
    last_backup_at = Timestamp(allow_none=True)
    last_backup_status = fields.String(validate=validate.OneOf(STATUSES))
    last_backup_error = fields.String(allow_none=True)
    error_kind = fields.String(allow_none=True)
    last_success_at = Timestamp(allow_none=True)
    config_version = fields.Integer(allow_none=True)
    config_hash = fields.String(allow_none=True)
    config_changed_at = Timestamp(allow_none=True)


class BackedUpDevicesAnswer(PageAnswer):
    """A page of devices with backups. `counts` are of all devices that the filters of the device list match,
    whatever their backup.
    """

    devices = fields.List(fields.Nested(BackedUpDeviceAnswer))
    counts = fields.Nested(BackupCountsAnswer)


class SnapshotItem(Answer):
    """A snapshot in a list. `task_id` is null for one whose execution belongs to no task."""

    id = Id()
    name = fields.String()
    task_id = Id(allow_none=True)
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
    config_hash = fields.String(allow_none=True)


class SnapshotAnswer(SnapshotItem):
    configs = fields.List(fields.Nested(SnapshotConfigAnswer))
