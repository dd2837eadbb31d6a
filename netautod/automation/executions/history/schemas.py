"""Queries and answers of the history."""

from marshmallow import fields, validate

from netautod.automation.executions.schemas import STATE, ExecutionQuery, HistoryQuery
from netautod.core.schema.bases import Answer, Id, Query, QueryInteger, Timestamp

LONGEST_TEXT = 255


class SearchQuery(ExecutionQuery):
    q = fields.String(load_default=None, validate=validate.Length(max=LONGEST_TEXT))


class AgentSearchQuery(HistoryQuery):
    q = fields.String(load_default=None, validate=validate.Length(max=LONGEST_TEXT))


class AgentRunsQuery(Query):
    limit = QueryInteger(low=1, cap=200, load_default=50)


class AgentRunAnswer(Answer):
    """An element of the list."""

    class Meta(Answer.Meta):
        many = True

    id = Id()
    agent_id = Id()
    state = fields.String(validate=STATE)
    input_task = fields.String()
    final_answer = fields.String(allow_none=True)
    iterations_used = fields.Integer()
    tool_calls_made = fields.Integer()
    error_message = fields.String(allow_none=True)
    started_at = Timestamp(allow_none=True)
    completed_at = Timestamp(allow_none=True)
