"""The hooks of the plugin system: synchronous registration calls and observers.

Every hook that registers may have the argument `host`, which is the same object for all hooks of a plugin. An
implementation that does not name it is called without it.

All hooks are plain functions; an asynchronous one is refused at load. What a plugin registers by a hook
counts when the hook returns, and not at all if a registration failed. A name belongs to the first plugin that
registers it: built-in plugins come before other plugins, these come in the order of their names.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pluggy

from netautod.plugin_api.agents import ModelBackend
from netautod.plugin_api.auth import AuthProvider
from netautod.plugin_api.commands import PluginCommand
from netautod.plugin_api.declared import ContentType, EventType, PluginPermission
from netautod.plugin_api.discovery.collectors import Collector
from netautod.plugin_api.events import (
    BackupStale,
    ConfigChanged,
    CredentialSuspended,
    DeviceChanged,
    FinishedExecution,
)
from netautod.plugin_api.executors.blocking import BlockingExecutor
from netautod.plugin_api.executors.contract import Executor
from netautod.plugin_api.host import PluginHost, PluginService
from netautod.plugin_api.inventory import OpenInventory
from netautod.plugin_api.routes import PluginRoute
from netautod.plugin_api.tools import AgentTool

PROJECT = "netautod"
hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def netautod_register_settings(register: Callable[[type[Any]], None]) -> None:
    """Call `register` once with the frozen dataclass that declares the section `[NAME]` of the settings.

    NAME is the plugin's entry point, NETAUTOD_NAME_... are the variables. The hook is called before all
    others, also by commands that use no plugin. It must have no effects, and it has no `host`.
    """


@hookspec
def netautod_register_executors(
    register: Callable[[Executor | BlockingExecutor], None], host: PluginHost[Any]
) -> None:
    """Call `register` once for each task type that the plugin runs."""


@hookspec
def netautod_register_auth_providers(register: Callable[[AuthProvider], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each provider of logins that the settings enable.

    A registered provider is an enabled one. Its name is of the form `[a-z][a-z0-9_-]*`, 32 characters at
    most, and not `local`.
    """


@hookspec
def netautod_register_inventory_sources(
    register: Callable[[str, OpenInventory], None], host: PluginHost[Any]
) -> None:
    """Call `register("netbox", open)` for each kind of inventory that the plugin can read.

    An inventory system is read by the first source whose probe recognizes it.
    """


@hookspec
def netautod_register_platforms(register: Callable[[Path], None], host: PluginHost[Any]) -> None:
    """Call `register` with the path of each TOML platform definition.

    `register` raises InvalidInput for a file that is faulty or whose name is taken. Let the exception pass:
    it is shown as the plugin's error, and what was registered before stays.
    """


@hookspec
def netautod_register_collectors(register: Callable[[Collector], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each transport over which the plugin reads the tables of devices."""


@hookspec
def netautod_register_models(register: Callable[[ModelBackend], None], host: PluginHost[Any]) -> None:
    """Call `register` with a language model for agent tasks, if the settings configure one.

    Agents use the first model that is registered; built-in plugins come before other plugins.
    """


@hookspec
def netautod_register_tools(register: Callable[[AgentTool], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each tool that agents may call.

    A tool with the name of a tool of the service replaces it, so a forbidden tool takes it away.
    """


@hookspec
def netautod_register_permissions(
    register: Callable[[PluginPermission], None], host: PluginHost[Any]
) -> None:
    """Call `register` once for each permission of the plugin; roles may hold it as `NAME.name`.

    The hook is called before the hooks that name permissions, those of routes and events.
    """


@hookspec
def netautod_register_events(register: Callable[[EventType], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each type of event that the plugin publishes by `host.publish`."""


@hookspec
def netautod_register_content_types(register: Callable[[ContentType], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each content type of documents that the plugin knows."""


@hookspec
def netautod_register_routes(register: Callable[[PluginRoute], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each method of each path that is served under `/api/plugins/NAME/`.

    `access` says who may call it: a permission that is not declared is refused.
    """


@hookspec
def netautod_register_commands(register: Callable[[PluginCommand], None], host: PluginHost[Any]) -> None:
    """Call `register` once for each command that the plugin adds to `netautod`.

    The hook is called when the command line names a command that netautod does not have, not by the service.
    Import what the command needs when it runs.
    """


@hookspec
def netautod_register_services(register: Callable[[PluginService], None], host: PluginHost[Any]) -> None:
    """Call `register` with an object that lives as long as the service; its `@hookimpl` methods observe.

    For an observer that needs the event loop, requests or a clean end.
    """


@hookspec
def netautod_execution_finished(execution: FinishedExecution) -> None:
    """React to the end of an execution, after it is stored.

    This hook and the following ones are observers. They are called in a thread, one call at a time per
    plugin, in the order of the events. What they raise is logged and counted. A plugin that is a thousand
    events behind misses those that come then. Events that wait are lost when the process is killed.
    """


@hookspec
def netautod_config_changed(event: ConfigChanged) -> None:
    """React to a new version of a device's configuration, after it is stored."""


@hookspec
def netautod_backup_stale(event: BackupStale) -> None:
    """React to a device without a good capture for `backups.stale_hours`, once until the next one."""


@hookspec
def netautod_credential_suspended(event: CredentialSuspended) -> None:
    """React to a device that refused a login; background work leaves this login alone for a while."""


@hookspec
def netautod_device_changed(event: DeviceChanged) -> None:
    """React to a neighbor gone, an interface down, or a device unreachable or back, as a poll has found."""
