"""Everything that plugins register, collected at once: for the commands that say whether plugins work."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from netautod.core.identity.permissions import PermissionKeys
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers import offers
from netautod.transport.ssh.platform.registry import PlatformRegistry


def _platforms(manager: PluginManager) -> list[str]:
    registry = PlatformRegistry()
    registered: list[str] = []

    def register(path: Path) -> None:
        registered.append(registry.register(path).name)

    manager.register_platforms(register)
    return registered


def _services(manager: PluginManager) -> list[str]:
    return [type(service).__name__ for _, service in manager.services()]


def _keys(manager: PluginManager) -> PermissionKeys:
    keys = PermissionKeys()
    keys.add({key: one.description for key, one in offers.permissions_of(manager).items()})
    return keys


def _routes(manager: PluginManager) -> list[str]:
    return [f"{one.route.method} {one.path}" for one in offers.routes_of(manager, _keys(manager))]


# The names that plugins register by each hook; a new hook that registers has its line here (a test says so).
REGISTRATIONS: Mapping[str, Callable[[PluginManager], Iterable[str]]] = {
    "netautod_register_executors": PluginManager.executors,
    "netautod_register_auth_providers": PluginManager.auth_providers,
    "netautod_register_inventory_sources": PluginManager.inventory_sources,
    "netautod_register_platforms": _platforms,
    "netautod_register_collectors": PluginManager.collectors,
    "netautod_register_models": PluginManager.models,
    "netautod_register_tools": PluginManager.tools,
    "netautod_register_permissions": offers.permissions_of,
    "netautod_register_events": lambda manager: offers.events_of(manager, _keys(manager)),
    "netautod_register_content_types": offers.content_types_of,
    "netautod_register_routes": _routes,
    "netautod_register_commands": lambda manager: offers.commands_of(manager, ()),
    "netautod_register_services": _services,
}


def register_all(manager: PluginManager) -> Mapping[str, list[str]]:
    """Return the registered names by hook; failures are in the `statuses` of the manager."""
    return {hook: list(registered(manager)) for hook, registered in REGISTRATIONS.items()}
