"""Loads plugins one by one from the entry-point group `netautod`, and collects what they register."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pluggy

from netautod.app.plugins.sections import DeclaredSections
from netautod.app.settings import table
from netautod.core.errors import NetautodError
from netautod.core.settings.field import SettingsError
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import (
    AuthProvider,
    Executor,
    OpenInventory,
    PasswordProvider,
    PluginHost,
    PluginService,
    RedirectProvider,
    hookspecs,
)
from netautod.system.models import PluginStatus
from netautod.users.models import LDAP, OIDC

logger = logging.getLogger(__name__)
OBSERVER_HOOKS = (
    "netautod_execution_finished",
    "netautod_config_changed",
    "netautod_backup_stale",
    "netautod_credential_suspended",
)


class PluginError(NetautodError):
    """A required plugin could not be loaded, or two plugins claim the same thing."""


@dataclass(frozen=True, kw_only=True)
class Lent:
    """What the hosts of all plugins are made of; `settings` are the sections that were read, by plugin."""

    http: GuardedClient = field(default_factory=lambda: GuardedClient(AddressRules()))
    instance_name: str = "netautod"
    settings: Mapping[str, Any] = field(default_factory=dict)


def installed() -> Iterable[EntryPoint]:
    return entry_points(group=hookspecs.PROJECT)


class PluginManager:
    """The loaded plugins. A broken one is reported in `statuses`, and fatal only if required.

    `sections` are the sections of settings that the plugins declare.
    """

    def __init__(self, *, required: Iterable[str] = (), lent: Lent | None = None) -> None:
        self._required = tuple(required)
        self._lent = lent or Lent()
        self.sections = DeclaredSections(table())
        self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
        self._pluggy.add_hookspecs(hookspecs)
        self._owners: dict[str, str] = {}  # plugins by the names of their services
        self.statuses: list[PluginStatus] = []

    @classmethod
    def load(
        cls,
        *,
        required: Iterable[str] = (),
        disabled: Iterable[str] = (),
        lent: Lent | None = None,
        found: Callable[[], Iterable[EntryPoint]] = installed,
        quiet: bool = False,
    ) -> "PluginManager":
        """Loads every installed plugin that is not disabled. Raises PluginError for a required one.

        `quiet`: what cannot be loaded is not logged.
        """
        manager = cls(required=required, lent=lent)
        without = set(disabled)
        for entry in sorted(found(), key=lambda entry: entry.name):
            if entry.name not in without:
                manager._load_one(entry, quiet=quiet)
        manager.check_required()
        return manager

    def register(self, plugin: object, name: str) -> None:
        """Adds a plugin that is no entry point (tests do)."""
        self._add_plugin(plugin, name)
        self.statuses.append(PluginStatus(name=name, version=None, ok=True, error=None))

    @property
    def broken(self) -> frozenset[str]:
        """The names of the plugins that do not work."""
        return frozenset(status.name for status in self.statuses if not status.ok)

    def _load_one(self, entry: EntryPoint, *, quiet: bool) -> None:
        version = entry.dist.version if entry.dist is not None else None
        error = None
        try:
            if self._pluggy.has_plugin(entry.name):
                raise PluginError("another plugin has this name")
            self._add_plugin(entry.load(), entry.name)
        except (Exception, SystemExit) as failure:  # a plugin may fail in any way; the others must load
            if not quiet:
                logger.error("plugin %s cannot be loaded", entry.name, exc_info=failure)
            error = one_line(failure)
        self.statuses.append(PluginStatus(name=entry.name, version=version, ok=error is None, error=error))

    def _add_plugin(self, plugin: object, name: str) -> None:
        self._add(plugin, name)
        try:
            self._declare(name)
        except BaseException:
            self._pluggy.unregister(name=name)
            raise

    def _declare(self, name: str) -> None:
        """Raises for a wrong declaration: without its settings a plugin is of no use, it is left out."""
        declared: list[Any] = []
        for implementation in self._implementations("netautod_register_settings"):
            if implementation.plugin_name == name:
                _call_all([implementation], {"register": declared.append})
        if len(declared) > 1:
            raise SettingsError("a plugin declares one section of settings")
        for section in declared:
            self.sections.add(name, section)

    def _host(self, name: str) -> PluginHost[Any]:
        settings = self._lent.settings.get(name)
        if settings is None and name in self.sections:
            settings = self.sections[name]()
        return PluginHost(settings=settings, http=self._lent.http, instance_name=self._lent.instance_name)

    def _add(self, plugin: object, name: str) -> None:
        try:
            self._pluggy.register(plugin, name)
            self._pluggy.check_pending()  # a hook that does not exist: most likely a typo
        except pluggy.PluginValidationError:
            self._pluggy.unregister(name=name)
            raise

    def check_required(self) -> None:
        """Raises PluginError if a required plugin is missing or broken."""
        working = {status.name for status in self.statuses if status.ok}
        for name in self._required:
            if name not in working:
                raise PluginError(f"the required plugin {name} is not available: {self._reason(name)}")

    def _reason(self, name: str) -> str:
        return next(
            (status.error or "" for status in self.statuses if status.name == name),
            "it is not installed, or disabled",
        )

    def executors(self) -> Mapping[str, Executor]:
        """Executors by task type; the first plugin (by name) to register a type keeps it.

        Raises PluginError if a required plugin fails here; another one is only marked.
        """
        collected: dict[str, Executor] = {}

        def register(executor: Executor) -> None:
            if executor.task_type in collected:
                raise PluginError(f"another plugin already registers an executor for {executor.task_type}")
            collected[executor.task_type] = executor

        self._call_each("netautod_register_executors", register=register)
        self.check_required()
        return collected

    def auth_providers(self) -> Mapping[str, AuthProvider]:
        """Providers of logins by name; the first plugin to register a name keeps it."""
        collected: dict[str, AuthProvider] = {}

        def register(provider: AuthProvider) -> None:
            if provider.name not in (LDAP, OIDC):
                raise PluginError(f"an auth provider is named ldap or oidc, not {provider.name}")
            if not isinstance(provider, PasswordProvider | RedirectProvider):
                raise PluginError("an auth provider is a PasswordProvider or a RedirectProvider")
            if provider.name in collected:
                raise PluginError(f"another plugin already registers the auth provider {provider.name}")
            collected[provider.name] = provider

        self._call_each("netautod_register_auth_providers", register=register)
        self.check_required()
        return collected

    def inventory_sources(self) -> Mapping[str, OpenInventory]:
        """Kinds of inventory by name, in the order in which an inventory system is offered to them."""
        collected: dict[str, OpenInventory] = {}

        def register(name: str, open_source: OpenInventory) -> None:
            if name in collected:
                raise PluginError(f"another plugin already registers the inventory source {name}")
            collected[name] = open_source

        self._call_each("netautod_register_inventory_sources", register=register)
        self.check_required()
        return collected

    def register_platforms(self, register: Callable[[Path], object]) -> None:
        """Lets each plugin call `register` with the paths of its CLI platforms.

        One that is refused (it raises) marks its plugin; raises PluginError if that one is required.
        """
        self._call_each("netautod_register_platforms", register=register)
        self.check_required()

    def services(self) -> list[tuple[str, PluginService]]:
        """The services that plugins register, each with the name of its plugin."""
        collected: list[tuple[str, PluginService]] = []
        hook = "netautod_register_services"
        for implementation in self._implementations(hook):
            name = implementation.plugin_name

            def register(service: PluginService, name: str = name) -> None:
                collected.append((name, service))

            self._call(hook, implementation, {"register": register})
        self.check_required()
        return collected

    def observe_with(self, plugin: str, service: object) -> None:
        """Makes the hook methods of a service observers; raises PluginValidationError for a wrong one."""
        name = f"{plugin}:{len(self._owners)}"
        self._add(service, name)
        self._owners[name] = plugin

    def observers(self) -> Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], None]]]:
        """Functions that call all observers of a plugin with a hook's arguments, by plugin and hook."""
        found: dict[str, dict[str, Callable[[Mapping[str, Any]], None]]] = {}
        for hook in OBSERVER_HOOKS:
            by_plugin: dict[str, list[pluggy.HookImpl]] = {}
            for implementation in self._implementations(hook):
                owner = self._owners.get(implementation.plugin_name, implementation.plugin_name)
                by_plugin.setdefault(owner, []).append(implementation)
            for owner, implementations in by_plugin.items():
                found.setdefault(owner, {})[hook] = partial(_call_all, implementations)
        return found

    def mark_broken(self, plugin: str, hook: str, failure: BaseException) -> None:
        """Shows the failure as the plugin's error, until the next start."""
        error = f"{hook}: {one_line(failure)}"
        self.statuses = [
            replace(status, ok=False, error=error) if status.name == plugin else status
            for status in self.statuses
        ]

    def _implementations(self, hook: str) -> list[pluggy.HookImpl]:
        return list(getattr(self._pluggy.hook, hook).get_hookimpls())

    def _call_each(self, hook: str, **arguments: Any) -> None:
        """Calls the hook plugin by plugin, so that one that fails keeps no other from being called."""
        for implementation in self._implementations(hook):
            self._call(hook, implementation, arguments)

    def _call(self, hook: str, implementation: pluggy.HookImpl, arguments: Mapping[str, Any]) -> None:
        name = implementation.plugin_name
        try:
            _call_all([implementation], {**arguments, "host": self._host(name)})
        except Exception as failure:
            logger.exception("%s of plugin %s failed", hook, name)
            self.mark_broken(name, hook, failure)


def _call_all(implementations: Iterable[pluggy.HookImpl], arguments: Mapping[str, Any]) -> None:
    for implementation in implementations:
        # As pluggy does: an implementation names only the arguments that it wants.
        implementation.function(**{name: arguments[name] for name in implementation.argnames})


def one_line(failure: BaseException) -> str:
    """The failure as one line, for tables and error messages."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())
