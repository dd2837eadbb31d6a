"""A tool for agents: which devices have no good backup."""

from collections.abc import Mapping
from typing import Any, Literal

from marshmallow import Schema, fields

from netautod.plugin_api import ToolContext, ToolOutcome
from netautod_reports.report import GOOD, STATUSES, Row, report_on
from netautod_reports.routes import PERMISSION
from netautod_reports.settings import ReportsSettings


class ReportToolParameters(Schema):
    site = fields.String(load_default=None, metadata={"description": "only the devices of this site"})


class ReportTool:
    """The tool that counts backups by state and lists the devices whose backup is not good."""

    name = "report_backups"
    description = (
        "Counts how the backups of devices stand (good, stale, failed, never) and lists those not good."
    )
    kind: Literal["read"] = "read"
    permission = PERMISSION
    parameters = ReportToolParameters

    def __init__(self, settings: ReportsSettings) -> None:
        self._settings = settings

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
        hours = self._settings.stale_hours
        report = await report_on(context.acting, stale_hours=hours, site=arguments["site"])
        counts = ", ".join(f"{report.counts[status]} {status}" for status in STATUSES)
        lines = [counts, *(_line(row) for row in report.rows if row.status != GOOD)]
        return ToolOutcome(text="\n".join(lines), source="report on backups")


def _line(row: Row) -> str:
    why = f": {row.error}" if row.error else ""
    return f"{row.device} ({row.host}) {row.status}, last good {row.last_success_at or 'never'}{why}"
