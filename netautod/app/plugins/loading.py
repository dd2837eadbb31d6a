"""Loads plugins one by one from the entry-point group `netautod`: their hooks and sections of settings."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from netautod.app.plugins.sections import DeclaredSections
from netautod.app.settings import table
from netautod.core.errors import NetautodError
from netautod.core.settings.field import SettingsError
from netautod.plugin_api import hookspecs
from netautod.system.models import PluginStatus

logger = logging.getLogger(__name__)


class PluginError(NetautodError):
    """A required plugin could not be loaded, or two plugins claim the same thing."""


def installed() -> Iterable[EntryPoint]:
    return entry_points(group=hookspecs.PROJECT)


class LoadedPlugins:
    """What the entry points brought. One that cannot be loaded is left out, and `statuses` tell why.

    `sections` are the sections of settings that the plugins declare.
    """

    def __init__(self) -> None:
        self.sections = DeclaredSections(table())
        self.statuses: list[PluginStatus] = []
        self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
        self._pluggy.add_hookspecs(hookspecs)
        self._failures: list[tuple[str, BaseException]] = []

    @classmethod
    def load(
        cls, *, disabled: Iterable[str] = (), found: Callable[[], Iterable[EntryPoint]] = installed
    ) -> "LoadedPlugins":
        """Imports every plugin that is not disabled, in the order of their names.

        Logs nothing: the settings are read with the plugins, and how to log is one of them.
        """
        plugins, without = cls(), set(disabled)
        for entry in sorted(found(), key=lambda entry: entry.name):
            if entry.name not in without:
                plugins._load_one(entry)
        return plugins

    @classmethod
    def of(cls, given: Mapping[str, object]) -> "LoadedPlugins":
        """Plugins that are no entry points, by name (tests bring some); raises for a wrong declaration."""
        plugins = cls()
        for name, plugin in given.items():
            plugins._add_plugin(plugin, name)
            plugins.statuses.append(PluginStatus(name=name, version=None, ok=True, error=None))
        return plugins

    @property
    def broken(self) -> frozenset[str]:
        """The names of the plugins that do not work."""
        return frozenset(status.name for status in self.statuses if not status.ok)

    def log_failures(self) -> None:
        """Tells the log why plugins could not be loaded."""
        for name, failure in self._failures:
            logger.error("plugin %s cannot be loaded", name, exc_info=failure)

    def implementations(self, hook: str) -> list[pluggy.HookImpl]:
        return list(getattr(self._pluggy.hook, hook).get_hookimpls())

    def add(self, implementing: object, name: str) -> None:
        """Adds the hook methods of an object; raises PluginValidationError for a wrong one."""
        try:
            self._pluggy.register(implementing, name)
            self._pluggy.check_pending()  # a hook that does not exist: most likely a typo
        except pluggy.PluginValidationError:
            self._pluggy.unregister(name=name)
            raise

    def mark_broken(self, plugin: str, error: str) -> None:
        self.statuses = [
            replace(status, ok=False, error=error) if status.name == plugin else status
            for status in self.statuses
        ]

    def _load_one(self, entry: EntryPoint) -> None:
        version = entry.dist.version if entry.dist is not None else None
        error = None
        try:
            if self._pluggy.has_plugin(entry.name):
                raise PluginError("another plugin has this name")
            self._add_plugin(entry.load(), entry.name)
        except (Exception, SystemExit) as failure:  # noqa: BLE001  # it may fail in any way; others must load
            self._failures.append((entry.name, failure))
            error = one_line(failure)
        self.statuses.append(PluginStatus(name=entry.name, version=version, ok=error is None, error=error))

    def _add_plugin(self, plugin: object, name: str) -> None:
        self.add(plugin, name)
        try:
            self._declare(name)
        except BaseException:
            self._pluggy.unregister(name=name)
            raise

    def _declare(self, name: str) -> None:
        """Raises for a wrong declaration: without its settings a plugin is of no use, it is left out."""
        declared: list[Any] = []
        for implementation in self.implementations("netautod_register_settings"):
            if implementation.plugin_name == name:
                call(implementation, {"register": declared.append})
        if len(declared) > 1:
            raise SettingsError("a plugin declares one section of settings")
        for section in declared:
            self.sections.add(name, section)


def call(implementation: pluggy.HookImpl, arguments: Mapping[str, Any]) -> None:
    """As pluggy does: an implementation names only the arguments that it wants."""
    implementation.function(**{name: arguments[name] for name in implementation.argnames})


def one_line(failure: BaseException) -> str:
    """The failure as one line, for tables and error messages."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())
