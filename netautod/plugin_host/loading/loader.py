"""Loads plugins one by one from the entry-point group `netautod`: their hooks and sections of settings."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from netautod.automation.system.models import PluginStatus
from netautod.core.settings.field import SettingsError
from netautod.core.settings.table import Setting
from netautod.plugin_api import hookspecs
from netautod.plugin_host.loading.api_version import refuse_version, refuse_version_of_source
from netautod.plugin_host.loading.distributions import version_of
from netautod.plugin_host.loading.failures import PluginError, one_line
from netautod.plugin_host.loading.precedence import in_order, is_built_in, yields
from netautod.plugin_host.loading.refusals import refuse_answer, refuse_hook
from netautod.plugin_host.sections.declared import DeclaredSections

__all__ = ["LoadedPlugins", "PluginError", "call", "installed", "one_line"]
logger = logging.getLogger(__name__)


def installed() -> Iterable[EntryPoint]:
    return entry_points(group=hookspecs.PROJECT)


class LoadedPlugins:
    """The plugins of the entry points. One that cannot be loaded is left out, and `statuses` say why.

    `sections` are the sections of settings that the plugins declare.
    """

    def __init__(self, core: Iterable[Setting]) -> None:
        self.sections = DeclaredSections(core)
        self.statuses: list[PluginStatus] = []
        self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
        self._pluggy.add_hookspecs(hookspecs)
        self._failures: list[tuple[str, BaseException]] = []
        self._not_loaded: list[PluginStatus] = []
        self._order: list[str] = []  # of the plugins that could be loaded
        self._entries: dict[str, EntryPoint] = {}

    @classmethod
    def load(
        cls,
        core: Iterable[Setting],
        *,
        disabled: Iterable[str] = (),
        found: Callable[[], Iterable[EntryPoint]] = installed,
    ) -> "LoadedPlugins":
        """Import every plugin that is not disabled, in the order of `precedence`.

        `core` are the settings of the service itself, whose names no section may take.

        Logs nothing: the settings are read with the plugins, and how to log is one of them.
        """
        plugins, without = cls(core), set(disabled)
        for entry in in_order(found()):
            if entry.name not in without:
                plugins._load_one(entry)
        plugins.statuses.sort(key=lambda status: status.name)
        return plugins

    @classmethod
    def of(cls, given: Mapping[str, object], core: Iterable[Setting] = ()) -> "LoadedPlugins":
        """Return plugins that are no entry points, by name (tests bring some); raises for a wrong
        declaration.
        """
        plugins = cls(core)
        for name, plugin in given.items():
            plugins._add_plugin(plugin, name)
            plugins.statuses.append(PluginStatus(name=name, version=None, ok=True, error=None))
        return plugins

    @property
    def broken(self) -> frozenset[str]:
        """The names of the plugins that do not work."""
        return frozenset(status.name for status in self.statuses if not status.ok)

    def log_failures(self) -> None:
        """Log why plugins could not be loaded."""
        for name, failure in self._failures:
            logger.error("plugin %s cannot be loaded", name, exc_info=failure)

    def implementations(self, hook: str) -> list[pluggy.HookImpl]:
        """Return the implementations in the order of the plugins, whatever one of them says about being first
        or last.
        """
        places = {name: place for place, name in enumerate(self._order)}
        found = getattr(self._pluggy.hook, hook).get_hookimpls()
        return sorted(found, key=lambda one: places.get(one.plugin_name, len(places)))

    def about(self, plugin: str) -> str:
        """Return the plugin in words."""
        entry = self._entries.get(plugin)
        built_in = entry is not None and is_built_in(entry)
        return f"the built-in plugin {plugin}" if built_in else f"the plugin {plugin}"

    def yields(self, plugin: str) -> bool:
        """Return whether the plugin gives way to another that registers the same."""
        entry = self._entries.get(plugin)
        return entry is not None and yields(entry)

    def add(self, implementing: object, name: str) -> None:
        """Add the hook methods of an object; raises PluginValidationError or PluginError for a wrong one."""
        try:
            self._pluggy.register(implementing, name)
            self._pluggy.check_pending()  # a hook that does not exist: most likely a typo
            for caller in self._pluggy.get_hookcallers(self._pluggy.get_plugin(name)) or ():
                for implementation in caller.get_hookimpls():
                    if implementation.plugin_name == name:
                        refuse_hook(implementation)
        except (pluggy.PluginValidationError, PluginError):
            self._pluggy.unregister(name=name)
            raise

    def leave_out(self, plugin: str, failure: BaseException) -> None:
        """Leave out a plugin that was loaded and cannot be used: none of its hooks is called."""
        if self._pluggy.has_plugin(plugin):
            self._pluggy.unregister(name=plugin)
        self._failures.append((plugin, failure))
        self.mark_broken(plugin, one_line(failure))

    def mark_broken(self, plugin: str, error: str) -> None:
        """Mark a plugin as broken, but not one that could not be loaded because another one has its name."""
        self.statuses = [
            replace(status, ok=False, error=error)
            if status.name == plugin and status not in self._not_loaded
            else status
            for status in self.statuses
        ]

    def _load_one(self, entry: EntryPoint) -> None:
        version = version_of(entry.dist) if entry.dist is not None else None
        error = None
        try:
            if self._pluggy.has_plugin(entry.name):
                raise PluginError("another plugin has this name")
            self._entries[entry.name] = entry
            self._add_plugin(_imported(entry), entry.name)
        except (Exception, SystemExit) as failure:  # noqa: BLE001  # it may fail in any way; others must load
            self._failures.append((entry.name, failure))
            error = one_line(failure)
        status = PluginStatus(name=entry.name, version=version, ok=error is None, error=error)
        self.statuses.append(status)
        if error is not None:
            self._not_loaded.append(status)

    def _add_plugin(self, plugin: object, name: str) -> None:
        refuse_version(plugin)
        self.add(plugin, name)
        self._order.append(name)
        try:
            self._declare(name)
        except BaseException:
            self._pluggy.unregister(name=name)
            raise

    def _declare(self, name: str) -> None:
        """Declare the sections of a plugin. Raises for a wrong one: without its settings a plugin is of no
        use, it is left out.
        """
        declared: list[Any] = []
        for implementation in self.implementations("netautod_register_settings"):
            if implementation.plugin_name == name:
                call(implementation, {"register": declared.append})
        if len(declared) > 1:
            raise SettingsError("a plugin declares one section of settings")
        for section in declared:
            self.sections.add(name, section)


def _imported(entry: EntryPoint) -> object:
    """Import the plugin's object. Raises whatever it raises, PluginError for one of another plugin API."""
    try:
        return entry.load()
    except Exception:
        refuse_version_of_source(entry)
        raise


def call(implementation: pluggy.HookImpl, arguments: Mapping[str, Any]) -> None:
    """Call an implementation as pluggy does: with only the arguments that it names."""
    answer = implementation.function(**{name: arguments[name] for name in implementation.argnames})
    refuse_answer(implementation.function.__name__, answer)
