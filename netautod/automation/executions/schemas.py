"""Query and answer schemas of executions, their log, their results and the agent history."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import fields, validate

from netautod.automation.executions.models import LEVELS
from netautod.automation.executions.transitions import STATES
from netautod.core.schema.bases import (
    Answer,
    Id,
    PageAnswer,
    PageQuery,
    Query,
    QueryBoolean,
    QueryInteger,
    QueryTimestamp,
    Request,
    Text,
    Timestamp,
)

STATE = validate.OneOf(STATES)
TRIGGER = validate.OneOf(("manual", "schedule"))
LEVEL = validate.OneOf(LEVELS)


class ExecutionQuery(PageQuery):
    task_id = Id()
    task_type = fields.String(metadata={"x-choices": "task_type"})
    state = fields.String(validate=STATE)
    triggered_by = fields.String(validate=TRIGGER)
    since = QueryTimestamp()
    until = QueryTimestamp()


class HistoryQuery(PageQuery):
    task_id = Id()
    state = fields.String(validate=STATE)
    since = QueryTimestamp()
    until = QueryTimestamp()


class LogQuery(Query):
    after_seq = QueryInteger(low=0, load_default=0)
    limit = QueryInteger(low=1, cap=1000, load_default=50)
    level = fields.String(
        load_default=None,
        validate=LEVEL,
        metadata={"description": "That one and worse ones."},
    )
    device_id = Id(load_default=None)


class ResultsQuery(PageQuery):
    success = QueryBoolean(load_default=None)
    error_kind = fields.String(load_default=None, validate=validate.Length(min=1, max=64))


class DecisionRequest(Request):
    """A decision about a parked execution.

    `hash` is that of the request that was shown: a decision about one request does not count for the next
    one.
    """

    example: ClassVar[Mapping[str, Any]] = {"comment": "Go on"}
    comment = Text()
    hash = Text()


class ExecutionListItem(Answer):
    """An execution of a list.

    `task_id` is null for one that belongs to no task.
    """

    id = Id()
    task_id = Id(allow_none=True)
    task_name = fields.String()
    task_type = fields.String()
    state = fields.String(validate=STATE)
    triggered_by = fields.String(validate=TRIGGER)
    scheduled_for = Timestamp(allow_none=True)
    started_at = Timestamp(allow_none=True)
    completed_at = Timestamp(allow_none=True)
    error_message = fields.String(allow_none=True)
    retry_count = fields.Integer()
    cancelled_by = Id(allow_none=True)
    retry_of = Id(allow_none=True)
    created_at = Timestamp()


class AttemptAnswer(Answer):
    number = fields.Integer()
    started_at = Timestamp()
    completed_at = Timestamp(allow_none=True)
    outcome = fields.String(allow_none=True)
    error_message = fields.String(allow_none=True)
    node = fields.String()


class ApprovalAnswer(Answer):
    decision = fields.String(validate=validate.OneOf(("approved", "rejected")))
    by = fields.String()
    comment = fields.String(allow_none=True)
    at = Timestamp()


class RequesterAnswer(Answer):
    id = Id()
    username = fields.String(allow_none=True)


class ExecutionAnswer(ExecutionListItem):
    output = fields.Raw(allow_none=True)
    attempts = fields.List(fields.Nested(AttemptAnswer))
    approval = fields.Nested(ApprovalAnswer, allow_none=True)
    approval_request = fields.Dict(allow_none=True)
    approval_expires_at = Timestamp(allow_none=True)
    requested_by = fields.Nested(RequesterAnswer)
    progress = fields.Dict(allow_none=True)


class ExecutionListAnswer(PageAnswer):
    executions = fields.List(fields.Nested(ExecutionListItem))


class LogEntryAnswer(Answer):
    seq = fields.Integer()
    at = Timestamp()
    level = fields.String(validate=LEVEL)
    device_id = fields.String(allow_none=True)
    message = fields.String()


class LogAnswer(Answer):
    entries = fields.List(fields.Nested(LogEntryAnswer))
    next_seq = fields.Integer()
    complete = fields.Boolean()


class ResultAnswer(Answer):
    device_id = fields.String()
    device_name = fields.String()
    success = fields.Boolean()
    changed = fields.Boolean(allow_none=True)
    version = fields.Integer(allow_none=True)
    config_hash = fields.String(allow_none=True)
    credential_id = fields.String(allow_none=True)
    duration_ms = fields.Integer()
    error = fields.String(allow_none=True)
    error_kind = fields.String(allow_none=True)


class ResultCountsAnswer(Answer):
    succeeded = fields.Integer()
    failed = fields.Integer()
    by_kind = fields.Dict(keys=fields.String(), values=fields.Integer())


class ResultListAnswer(PageAnswer):
    """A page of results.

    `counts` count all results of the execution, whatever the filters.
    """

    results = fields.List(fields.Nested(ResultAnswer))
    counts = fields.Nested(ResultCountsAnswer)


class NamedDevice(Answer):
    """A device as the executor that requests the approval names it."""

    id = fields.String()
    name = fields.String()


class WaitingApprovalAnswer(Answer):
    execution_id = Id()
    task_id = Id(allow_none=True)
    task_name = fields.String()
    requested_by = fields.Nested(RequesterAnswer)
    requested_at = Timestamp(allow_none=True)
    expires_at = Timestamp(allow_none=True)
    request = fields.Dict(allow_none=True)
    lines = fields.List(fields.String())
    devices = fields.List(fields.Nested(NamedDevice))


class ApprovalsAnswer(PageAnswer):
    approvals = fields.List(fields.Nested(WaitingApprovalAnswer))


class HistoryItem(Answer):
    id = Id()
    task_id = Id()
    task_name = fields.String()
    state = fields.String(validate=STATE)
    triggered_by = fields.String(validate=TRIGGER)
    started_at = Timestamp(allow_none=True)
    completed_at = Timestamp(allow_none=True)
    retry_count = fields.Integer()
    created_at = Timestamp()
    prompt = fields.String(allow_none=True)
    error_message = fields.String(allow_none=True)


class HistoryListAnswer(PageAnswer):
    executions = fields.List(fields.Nested(HistoryItem))


class HistoryAnswer(ExecutionAnswer):
    prompt = fields.String(allow_none=True)
    transcript = fields.List(fields.Raw())
