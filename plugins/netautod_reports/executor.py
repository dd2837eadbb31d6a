"""The task type `backup_report`: a report at fixed times, published as an event, which webhooks can post."""

from typing import Any, ClassVar

from marshmallow import INCLUDE, Schema, fields

from netautod.plugin_api import EventType, PluginHost, RunContext
from netautod_reports.report import GOOD, Report, report_on, text
from netautod_reports.routes import PERMISSION, Counts
from netautod_reports.settings import ReportsSettings

SHOWN = 50  # devices that the output of a task names
MOST_NAMED = 20  # of these in the event, which may hold 64 KiB


class NotGoodDevice(Schema):
    device_id = fields.String(required=True)
    device = fields.String(required=True)
    site = fields.String(required=True, allow_none=True)
    status = fields.String(required=True)
    last_success_at = fields.String(required=True, allow_none=True)


class FinishedData(Schema):
    execution_id = fields.String(required=True)
    task_name = fields.String(required=True)
    generated_at = fields.String(required=True)
    counts = fields.Nested(Counts, required=True)
    not_good = fields.List(fields.Nested(NotGoodDevice), required=True)


FINISHED = EventType(
    name="finished",
    description=f"A backup_report has ended; of the devices that are not good it names {MOST_NAMED}.",
    permission=PERMISSION,
    schema=FinishedData,
)


class ReportParameters(Schema):
    class Meta:
        unknown = INCLUDE

    site = fields.String(load_default=None, allow_none=True)


class BackupReport:
    """The executor of `backup_report`: counts backups by state, and names those that are not good."""

    task_type: ClassVar[str] = "backup_report"
    parameters_schema: ClassVar[type[Schema] | None] = ReportParameters
    idempotent: ClassVar[bool] = True

    def __init__(self, host: PluginHost[ReportsSettings]) -> None:
        self._host = host

    async def run(self, context: RunContext) -> Any:
        hours, site = self._host.settings.stale_hours, context.parameters["site"]
        report = await report_on(context.acting, stale_hours=hours, site=site)
        output = _output(report)
        not_good = [
            {name: row[name] for name in NotGoodDevice().fields} for row in output["not_good"][:MOST_NAMED]
        ]
        data = {
            **output,
            "execution_id": context.execution.id,
            "task_name": context.execution.task_name,
            "not_good": not_good,
        }
        await self._host.publish(FINISHED.name, data, org_id=context.execution.org_id)
        return output


def _output(report: Report) -> dict[str, Any]:
    not_good = [row.to_json() for row in report.rows if row.status != GOOD]
    return {
        "generated_at": text(report.generated_at),
        "counts": dict(report.counts),
        "not_good": not_good[:SHOWN],
    }
