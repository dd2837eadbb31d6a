"""Request and answer schemas of tasks and agent schedules."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import fields, validate

from netautod.automation.tasks.owners.models import REASONS
from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    Integer,
    JsonObject,
    Name,
    PageAnswer,
    PageQuery,
    QueryBoolean,
    Request,
    Text,
    Timestamp,
)

ORGANIZATION = "organization"
MOST_PARAMETER_BYTES = 512 * 1024
READ_ONLY = frozenset({"id", "org_id", "next_run_at", "last_run_at", "created_at", "updated_at", "blocked"})
CREATOR_OWNS = READ_ONLY | {"owner_id"}


class CronExpression(fields.String):
    """A field for a cron expression, whose grammar the service checks (cron/fields.py)."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": r"^\s*[0-9A-Za-z*,/-]+(\s+[0-9A-Za-z*,/-]+){4}\s*$"}

    def __init__(self) -> None:
        super().__init__(required=True, validate=validate.Length(max=255))


class Timezone(fields.String):
    """A field for `UTC`, or a name with `/` of the time zone database."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": "^(UTC|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+)$"}

    def __init__(self, **options: Any) -> None:
        super().__init__(validate=validate.Length(max=64), **options)


class TaskCreate(Request):
    read_only = CREATOR_OWNS
    example: ClassVar[Mapping[str, Any]] = {
        "name": "nightly backup",
        "parameters": {"device_filter": {"site": "Berlin"}},
    }
    name = Name(required=True)
    description = Text()
    task_type = fields.String(required=True, metadata={"x-choices": "task_type"})
    cron_expression = CronExpression()
    timezone = Timezone(load_default="UTC")
    parameters = JsonObject(most_bytes=MOST_PARAMETER_BYTES, load_default=dict)
    enabled = Boolean(load_default=True)
    max_retries = Integer(load_default=3, validate=validate.Range(0, 20))
    retry_delay_seconds = Integer(load_default=60, validate=validate.Range(0, 86400))
    timeout_seconds = Integer(load_default=3600, validate=validate.Range(1, 86400))


class TaskUpdate(TaskCreate):
    read_only = READ_ONLY
    owner_id = Id()


class AgentScheduleCreate(Request):
    read_only = CREATOR_OWNS
    example: ClassVar[Mapping[str, Any]] = {"name": "interfaces that are down", "timezone": "Europe/Berlin"}
    name = Name(required=True)
    description = Text()
    prompt = fields.String(required=True, validate=validate.Length(min=1, max=65536))
    cron_expression = CronExpression()
    timezone = Timezone(load_default="UTC")
    enabled = Boolean(load_default=True)


class AgentScheduleUpdate(AgentScheduleCreate):
    read_only = READ_ONLY
    owner_id = Id()


class ToggleRequest(Request):
    enabled = Boolean(required=True)


class PreviewRequest(Request):
    cron_expression = CronExpression()
    timezone = Timezone(required=True)
    count = Integer(load_default=10, validate=validate.Range(1, 100))


class TaskQuery(PageQuery):
    q = fields.String(
        validate=validate.Length(max=255), metadata={"description": "A text in the name, in any case."}
    )
    task_type = fields.String(metadata={"x-choices": "task_type"})
    enabled = QueryBoolean()
    blocked = QueryBoolean(metadata={"description": "Whether the owner is disabled or deleted."})


class AgentScheduleQuery(PageQuery):
    scope = fields.String(
        validate=validate.OneOf([ORGANIZATION]),
        metadata={"description": "`organization`: those of all owners; absent: the caller's own."},
    )
    mine = QueryBoolean(
        load_default=False, metadata={"description": "The caller's own, which is also the default."}
    )


class BlockReason(fields.String):
    """A field that says why a task does not run whatever its schedule: null, or what became of its owner."""

    def __init__(self) -> None:
        super().__init__(allow_none=True, validate=validate.OneOf(REASONS))


class TaskAnswer(Answer):
    id = Id()
    name = fields.String()
    description = fields.String(allow_none=True)
    task_type = fields.String()
    cron_expression = fields.String()
    timezone = fields.String()
    parameters = fields.Dict()
    enabled = fields.Boolean()
    max_retries = fields.Integer()
    retry_delay_seconds = fields.Integer()
    timeout_seconds = fields.Integer()
    next_run_at = Timestamp()
    last_run_at = Timestamp(allow_none=True)
    owner_id = Id()
    blocked = BlockReason()
    created_at = Timestamp()


class TaskListItem(Answer):
    id = Id()
    name = fields.String()
    task_type = fields.String()
    cron_expression = fields.String()
    timezone = fields.String()
    enabled = fields.Boolean()
    blocked = BlockReason()
    last_run_at = Timestamp(allow_none=True)
    next_run_at = Timestamp()
    max_retries = fields.Integer()
    retry_delay_seconds = fields.Integer()
    timeout_seconds = fields.Integer()


class TaskListAnswer(PageAnswer):
    tasks = fields.List(fields.Nested(TaskListItem))


class AgentScheduleAnswer(Answer):
    id = Id()
    name = fields.String()
    description = fields.String(allow_none=True)
    prompt = fields.String()
    cron_expression = fields.String()
    timezone = fields.String()
    enabled = fields.Boolean()
    blocked = BlockReason()
    last_run_at = Timestamp(allow_none=True)
    next_run_at = Timestamp()
    created_at = Timestamp()


class AgentScheduleListAnswer(PageAnswer):
    tasks = fields.List(fields.Nested(AgentScheduleAnswer))


class NextRun(Answer):
    utc = Timestamp()
    local = fields.String()


class PreviewAnswer(Answer):
    next_runs = fields.List(fields.Nested(NextRun))
