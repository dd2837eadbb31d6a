"""Additions of plugins beside what the service calls: permissions, events, content types, routes, commands.

Each is checked when it is registered; a name belongs to the first that registers it.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from netautod.core.identity.permissions import PermissionKeys
from netautod.documents.models import CONTENT_TYPES
from netautod.plugin_api import ContentType, EventType, PluginCommand, PluginPermission, PluginRoute
from netautod.plugin_host.loading.failures import PluginError
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.registering.registry import Turn
from netautod.plugin_host.registering.validation import (
    refuse_command,
    refuse_content_type,
    refuse_event,
    refuse_permission,
    refuse_plugin_name,
    refuse_route,
    same_place,
)


@dataclass(frozen=True, kw_only=True)
class OfferedRoute:
    """A route of a plugin. `path` is the whole one, from /api on."""

    plugin: str
    path: str
    route: PluginRoute


@dataclass(frozen=True, kw_only=True)
class OfferedCommand:
    plugin: str
    command: PluginCommand


def permissions_of(plugins: PluginManager) -> Mapping[str, PluginPermission]:
    """Return the permissions by their keys, `PLUGIN.NAME`."""

    def offered(turn: Turn[PluginPermission]) -> Callable[[PluginPermission], None]:
        def made(permission: PluginPermission) -> tuple[str, PluginPermission]:
            refuse_permission(turn.plugin, permission)
            return f"{turn.plugin}.{permission.name}", permission

        return lambda permission: turn.register(lambda: made(permission))

    return plugins.collect("netautod_register_permissions", "the permission", offered)


def events_of(plugins: PluginManager, keys: PermissionKeys) -> Mapping[str, EventType]:
    """Return the events by their full names, `PLUGIN.NAME`; `keys` are the existing permissions."""

    def offered(turn: Turn[EventType]) -> Callable[[EventType], None]:
        def made(event: EventType) -> tuple[str, EventType]:
            refuse_event(turn.plugin, event, keys)
            return f"{turn.plugin}.{event.name}", event

        return lambda event: turn.register(lambda: made(event))

    return plugins.collect("netautod_register_events", "the event", offered)


def content_types_of(plugins: PluginManager) -> Mapping[str, ContentType]:
    """Return the content types by name, beside those of the service."""

    def offered(turn: Turn[ContentType]) -> Callable[[ContentType], None]:
        def made(kind: ContentType) -> tuple[str, ContentType]:
            refuse_content_type(kind)
            if kind.name in CONTENT_TYPES:
                raise PluginError(f"the content type {kind.name} is the service's own")
            return kind.name, kind

        return lambda kind: turn.register(lambda: made(kind))

    return plugins.collect("netautod_register_content_types", "the content type", offered)


def routes_of(plugins: PluginManager, keys: PermissionKeys) -> list[OfferedRoute]:
    """Return the routes in the order of the plugins, and then in that in which each registers them."""
    spelled: dict[str, str] = {}

    def offered(turn: Turn[OfferedRoute]) -> Callable[[PluginRoute], None]:
        def made(route: PluginRoute) -> tuple[str, OfferedRoute]:
            refuse_plugin_name(turn.plugin)
            refuse_route(route, keys)
            path = f"/api/plugins/{turn.plugin}{route.path}"
            place = same_place(path)
            if spelled.setdefault(place, path) != path:
                raise PluginError(f"{path} and {spelled[place]} are the same path")
            return f"{route.method} {place}", OfferedRoute(plugin=turn.plugin, path=path, route=route)

        return lambda route: turn.register(lambda: made(route))

    found = plugins.collect("netautod_register_routes", "the route", offered)
    return list(found.values())


def commands_of(plugins: PluginManager, taken: Container[str]) -> Mapping[str, OfferedCommand]:
    """Return the commands by name; `taken` are the names of our own."""

    def offered(turn: Turn[OfferedCommand]) -> Callable[[PluginCommand], None]:
        def made(command: PluginCommand) -> tuple[str, OfferedCommand]:
            refuse_command(command)
            if command.name in taken:
                raise PluginError(f"netautod {command.name} is a command of the service itself")
            return command.name, OfferedCommand(plugin=turn.plugin, command=command)

        return lambda command: turn.register(lambda: made(command))

    return plugins.collect("netautod_register_commands", "the command", offered)
