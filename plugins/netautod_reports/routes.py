"""The routes under /api/plugins/reports: the report as JSON, in pages, and whole as CSV."""

from collections.abc import Sequence
from typing import Any

from marshmallow import Schema, fields, validate

from netautod.plugin_api import PluginRoute, RouteRequest
from netautod_reports.report import STATUSES, Report, report_on, text
from netautod_reports.settings import ReportsSettings

READ = "read"
PERMISSION = f"reports.{READ}"
MOMENT = {"format": "date-time", "example": "2026-11-21T06:44:12.345Z"}


class ReportQuery(Schema):
    site = fields.String(load_default=None)
    status = fields.String(load_default=None, validate=validate.OneOf(STATUSES))


class PagedReportQuery(ReportQuery):
    limit = fields.Integer(load_default=100, validate=validate.Range(min=1, max=1000))
    offset = fields.Integer(load_default=0, validate=validate.Range(min=0, max=2**31))


class BackupRow(Schema):
    device_id = fields.String()
    device = fields.String()
    host = fields.String()
    device_type = fields.String()
    site = fields.String(allow_none=True)
    status = fields.String(validate=validate.OneOf(STATUSES))
    last_backup_at = fields.String(allow_none=True, metadata=MOMENT)
    last_success_at = fields.String(allow_none=True, metadata=MOMENT)
    version = fields.Integer(allow_none=True, metadata={"example": 12})
    changed_at = fields.String(allow_none=True, metadata=MOMENT)
    error = fields.String(allow_none=True, metadata={"example": "timeout: no answer"})


class Counts(Schema):
    good = fields.Integer()
    stale = fields.Integer()
    failed = fields.Integer()
    never = fields.Integer()


class BackupReportAnswer(Schema):
    generated_at = fields.String(metadata=MOMENT)
    stale_hours = fields.Float()
    counts = fields.Nested(Counts)
    rows = fields.List(fields.Nested(BackupRow))
    total = fields.Integer()
    limit = fields.Integer()
    offset = fields.Integer()


def routes(settings: ReportsSettings) -> Sequence[PluginRoute]:
    async def report(request: RouteRequest) -> Report:
        query = request.query
        hours = settings.stale_hours
        return await report_on(request.acting, stale_hours=hours, site=query["site"], status=query["status"])

    async def as_json(request: RouteRequest) -> dict[str, Any]:
        made, limit, offset = await report(request), request.query["limit"], request.query["offset"]
        return {
            "generated_at": text(made.generated_at),
            "stale_hours": settings.stale_hours,
            "counts": made.counts,
            "rows": [row.to_json() for row in made.rows[offset : offset + limit]],
            "total": len(made.rows),
            "limit": limit,
            "offset": offset,
        }

    async def as_csv(request: RouteRequest) -> str:
        return (await report(request)).to_csv()

    return (
        PluginRoute(
            method="GET",
            path="/backups",
            access=PERMISSION,
            handler=as_json,
            summary="Reports how the backup of each device stands, by name.",
            query=PagedReportQuery,
            answer=BackupReportAnswer,
            seconds=60,
        ),
        PluginRoute(
            method="GET",
            path="/backups.csv",
            access=PERMISSION,
            handler=as_csv,
            summary="The same report as one CSV file.",
            query=ReportQuery,
            produces="text/csv; charset=utf-8",
            seconds=60,
        ),
    )
