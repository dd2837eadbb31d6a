"""Loads plugins one by one from the entry-point group `netautod`, and collects what they register."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pluggy

from netautod import hookspecs
from netautod.errors import NetautodError
from netautod.plugin_api import AuthHost, AuthProvider, Executor, FinishedExecution, OpenInventory

logger = logging.getLogger(__name__)
EXTERNAL_PROVIDERS = ("ldap", "oidc")


class PluginError(NetautodError):
    """A required plugin could not be loaded, or two plugins claim the same thing."""


@dataclass(frozen=True, kw_only=True)
class PluginStatus:
    name: str
    version: str | None
    ok: bool
    error: str | None


class PluginManager:
    """The loaded plugins. A broken one is reported in `statuses`, and fatal only if required."""

    def __init__(self, *, required: Iterable[str] = ()) -> None:
        self._required = tuple(required)
        self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
        self._pluggy.add_hookspecs(hookspecs)
        self.statuses: list[PluginStatus] = []

    @classmethod
    def load(
        cls,
        *,
        required: Iterable[str] = (),
        disabled: Iterable[str] = (),
        found: Callable[[], Iterable[EntryPoint]] = lambda: entry_points(group=hookspecs.PROJECT),
    ) -> "PluginManager":
        """Loads every installed plugin that is not disabled. Raises PluginError for a required one."""
        manager = cls(required=required)
        without = set(disabled)
        for entry in sorted(found(), key=lambda entry: entry.name):
            if entry.name not in without:
                manager._load_one(entry)
        manager._check_required()
        return manager

    def register(self, plugin: object, name: str) -> None:
        """Adds a plugin that is no entry point (tests do)."""
        self._add(plugin, name)
        self.statuses.append(PluginStatus(name=name, version=None, ok=True, error=None))

    def _load_one(self, entry: EntryPoint) -> None:
        version = entry.dist.version if entry.dist is not None else None
        error = None
        try:
            if self._pluggy.has_plugin(entry.name):
                raise PluginError("another plugin has this name")
            self._add(entry.load(), entry.name)
        except (Exception, SystemExit) as failure:  # a plugin may fail in any way; the others must load
            logger.error("plugin %s cannot be loaded", entry.name, exc_info=failure)
            error = _line(failure)
        self.statuses.append(PluginStatus(name=entry.name, version=version, ok=error is None, error=error))

    def _add(self, plugin: object, name: str) -> None:
        try:
            self._pluggy.register(plugin, name)
            self._pluggy.check_pending()  # a hook that does not exist: most likely a typo
        except pluggy.PluginValidationError:
            self._pluggy.unregister(name=name)
            raise

    def _check_required(self) -> None:
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
        self._check_required()
        return collected

    def auth_providers(self, host: AuthHost) -> Mapping[str, AuthProvider]:
        """Providers of logins by name; the first plugin to register a name keeps it."""
        collected: dict[str, AuthProvider] = {}

        def register(provider: AuthProvider) -> None:
            if provider.name not in EXTERNAL_PROVIDERS:
                raise PluginError(f"an auth provider is named ldap or oidc, not {provider.name}")
            if provider.name in collected:
                raise PluginError(f"another plugin already registers the auth provider {provider.name}")
            collected[provider.name] = provider

        self._call_each("netautod_register_auth_providers", register=register, host=host)
        self._check_required()
        return collected

    def inventory_sources(self) -> Mapping[str, OpenInventory]:
        """Kinds of inventory by name, in the order in which a far end is shown to them."""
        collected: dict[str, OpenInventory] = {}

        def register(name: str, open_source: OpenInventory) -> None:
            if name in collected:
                raise PluginError(f"another plugin already registers the inventory source {name}")
            collected[name] = open_source

        self._call_each("netautod_register_inventory_sources", register=register)
        self._check_required()
        return collected

    def register_platforms(self, register: Callable[[Path], object]) -> None:
        """Lets each plugin call `register` with the paths of its CLI platforms.

        One that is refused (it raises) marks its plugin; raises PluginError if that one is required.
        """
        self._call_each("netautod_register_platforms", register=register)
        self._check_required()

    def execution_finished(self, execution: FinishedExecution) -> None:
        """Calls every observer."""
        self._call_each("netautod_execution_finished", execution=execution)

    def _call_each(self, hook: str, **arguments: Any) -> None:
        """Calls the hook plugin by plugin, so that one that fails keeps no other from being called."""
        for implementation in getattr(self._pluggy.hook, hook).get_hookimpls():
            # As pluggy does: an implementation names only the arguments that it wants.
            wanted = {name: arguments[name] for name in implementation.argnames}
            try:
                implementation.function(**wanted)
            except Exception as failure:
                name = implementation.plugin_name
                logger.exception("%s of plugin %s failed", hook, name)
                self._mark_broken(name, f"{hook}: {_line(failure)}")

    def _mark_broken(self, name: str, error: str) -> None:
        self.statuses = [
            replace(status, ok=False, error=error) if status.name == name else status
            for status in self.statuses
        ]


def _line(failure: BaseException) -> str:
    """The failure as one line, for tables and error messages."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())
