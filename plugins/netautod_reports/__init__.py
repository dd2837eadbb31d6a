"""Reports on the state of backups: over HTTP, on the command line, as a task, and for agents.

Users need the permission `reports.read`, and `devices.access` for the devices themselves.
"""

from collections.abc import Callable

from netautod.plugin_api import (
    AgentTool,
    BlockingExecutor,
    EventType,
    Executor,
    PluginCommand,
    PluginHost,
    PluginPermission,
    PluginRoute,
    hookimpl,
)
from netautod_reports.command import command
from netautod_reports.executor import FINISHED, BackupReport
from netautod_reports.routes import READ, routes
from netautod_reports.settings import ReportsSettings
from netautod_reports.tool import ReportTool

__all__ = [
    "ReportsSettings",
    "netautod_register_commands",
    "netautod_register_events",
    "netautod_register_executors",
    "netautod_register_permissions",
    "netautod_register_routes",
    "netautod_register_settings",
    "netautod_register_tools",
]
Host = PluginHost[ReportsSettings]


@hookimpl
def netautod_register_settings(register: Callable[[type[ReportsSettings]], None]) -> None:
    register(ReportsSettings)


@hookimpl
def netautod_register_permissions(register: Callable[[PluginPermission], None]) -> None:
    register(PluginPermission(name=READ, description="Read reports on how the backups stand."))


@hookimpl
def netautod_register_events(register: Callable[[EventType], None]) -> None:
    register(FINISHED)


@hookimpl
def netautod_register_routes(register: Callable[[PluginRoute], None], host: Host) -> None:
    for route in routes(host.settings):
        register(route)


@hookimpl
def netautod_register_commands(register: Callable[[PluginCommand], None], host: Host) -> None:
    register(command(host.settings))


@hookimpl
def netautod_register_executors(register: Callable[[Executor | BlockingExecutor], None], host: Host) -> None:
    register(BackupReport(host))


@hookimpl
def netautod_register_tools(register: Callable[[AgentTool], None], host: Host) -> None:
    register(ReportTool(host.settings))
