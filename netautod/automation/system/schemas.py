"""Requests and answers of /api/system."""

from marshmallow import fields

from netautod.core.schema.bases import Answer, Name, Request, Timestamp


class PauseRequest(Request):
    reason = Name(required=True, max_length=1024)


class NodeStatusAnswer(Answer):
    id = fields.String()
    host = fields.String()
    version = fields.String()
    started_at = Timestamp()
    heartbeat_at = Timestamp()
    running = fields.Integer()
    slots = fields.Integer()


class DiskStatusAnswer(Answer):
    directory = fields.String()
    free_mb = fields.Integer()
    total_mb = fields.Integer()
    min_free_mb = fields.Integer()
    full = fields.Boolean()


class DatabaseStatusAnswer(Answer):
    version = fields.String()
    replica_set = fields.String(allow_none=True)
    ok = fields.Boolean()
    disk = fields.Nested(DiskStatusAnswer, allow_none=True)


class PluginStatusAnswer(Answer):
    name = fields.String()
    version = fields.String(allow_none=True)
    ok = fields.Boolean()
    error = fields.String(allow_none=True)


class QueuesAnswer(Answer):
    pending = fields.Integer()
    polls = fields.Integer()


class PauseAnswer(Answer):
    reason = fields.String()
    by = fields.String()
    at = Timestamp()


class PausedAnswer(Answer):
    paused = fields.Nested(PauseAnswer, allow_none=True)


class RiskAnswer(Answer):
    name = fields.String()
    text = fields.String()


class SystemStatusAnswer(PausedAnswer):
    nodes = fields.List(fields.Nested(NodeStatusAnswer))
    database = fields.Nested(DatabaseStatusAnswer)
    plugins = fields.List(fields.Nested(PluginStatusAnswer))
    queues = fields.Nested(QueuesAnswer)
    risks = fields.List(fields.Nested(RiskAnswer))
