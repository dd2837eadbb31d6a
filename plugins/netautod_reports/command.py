"""The command `netautod report`: the report as CSV, for cron jobs and for monitoring systems."""

import argparse
from pathlib import Path

from netautod.plugin_api import CommandContext, InvalidInput, PluginCommand
from netautod_reports.report import STATUSES, Report, report_on
from netautod_reports.settings import ReportsSettings


def command(settings: ReportsSettings) -> PluginCommand:
    async def run(context: CommandContext) -> int:
        """Print the report; return 1 with --check if any device has no good backup."""
        given = context.arguments
        async with context.acting(given.organization) as services:
            report = await report_on(
                services, stale_hours=settings.stale_hours, site=given.site, status=given.status
            )
        if given.check:
            context.say(_summary(report))
            return 0 if report.all_good else 1
        if given.output is not None:
            _write(given.output, report.to_csv())
        else:
            for line in report.to_csv().splitlines():
                context.say(line)
        return 0

    return PluginCommand(
        name="report", help="report how the backups stand, as CSV", run=run, add_arguments=_add_arguments
    )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--organization", metavar="NAME", help="needed when there are several")
    parser.add_argument("--site", metavar="NAME", help="only the devices of this site")
    parser.add_argument("--status", choices=STATUSES, help="only the devices in this state")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the report to this file")
    parser.add_argument(
        "--check", action="store_true", help="print the counts; exit code 1 if not all are good"
    )


def _summary(report: Report) -> str:
    return ", ".join(f"{report.counts[status]} {status}" for status in STATUSES)


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from error
