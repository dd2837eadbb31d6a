"""The answer of /api/summary."""

from marshmallow import fields

from netautod.automation.system.schemas import PauseAnswer
from netautod.core.schema.bases import Answer, Id, Timestamp
from netautod.network.configs.backups.schemas import BackupCountsAnswer


class ExecutionTallyAnswer(Answer):
    running = fields.Integer()
    pending = fields.Integer()
    failed_24h = fields.Integer()


class RecentChangeAnswer(Answer):
    """A changed version against the version before; of a first version all its lines are `additions`.

    `additions` and `deletions` are null where a text is lost or damaged.
    """

    device_id = Id()
    device_name = fields.String()
    version = fields.Integer()
    created_at = Timestamp()
    additions = fields.Integer(allow_none=True)
    deletions = fields.Integer(allow_none=True)


class SummaryAnswer(Answer):
    """The summary of an organization.

    `executions`, `approvals`, `blocked_tasks` and `paused` are null without tasks.operate, `paused` also when
    nothing is paused. `recent_changes` are the ten versions that were captured last, of existing devices.
    """

    devices = fields.Integer()
    backups = fields.Nested(BackupCountsAnswer)
    executions = fields.Nested(ExecutionTallyAnswer, allow_none=True)
    approvals = fields.Integer(allow_none=True)
    paused = fields.Nested(PauseAnswer, allow_none=True)
    blocked_tasks = fields.Integer(allow_none=True)
    recent_changes = fields.List(fields.Nested(RecentChangeAnswer))
