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
from netautod.plugin_api import Executor, FinishedExecution

logger = logging.getLogger(__name__)


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

    def __init__(self) -> None:
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
        """Loads every installed plugin that is not disabled."""
        manager = cls()
        without = set(disabled)
        for entry in sorted(found(), key=lambda entry: entry.name):
            if entry.name not in without:
                manager._load_one(entry)
        working = {status.name for status in manager.statuses if status.ok}
        for name in required:
            if name not in working:
                raise PluginError(f"the required plugin {name} is not available: {manager._reason(name)}")
        return manager

    def register(self, plugin: object, name: str) -> None:
        """Adds a plugin that is no entry point (tests do)."""
        self._pluggy.register(plugin, name)
        self._pluggy.check_pending()
        self.statuses.append(PluginStatus(name=name, version=None, ok=True, error=None))

    def _load_one(self, entry: EntryPoint) -> None:
        version = entry.dist.version if entry.dist is not None else None
        error = None
        try:
            self._pluggy.register(entry.load(), entry.name)
            self._pluggy.check_pending()
        except Exception as failure:  # a plugin may fail in any way; the others must load
            logger.error("plugin %s cannot be loaded", entry.name, exc_info=failure)
            error = f"{type(failure).__name__}: {failure}"
            if self._pluggy.has_plugin(entry.name):
                self._pluggy.unregister(name=entry.name)
        self.statuses.append(PluginStatus(name=entry.name, version=version, ok=error is None, error=error))

    def _reason(self, name: str) -> str:
        return next((status.error or "" for status in self.statuses if status.name == name), "not installed")

    def executors(self) -> Mapping[str, Executor]:
        """Executors by task type; the first plugin to register a type keeps it."""
        collected: dict[str, Executor] = {}

        def register(executor: Executor) -> None:
            if executor.task_type in collected:
                raise PluginError(f"another plugin already registers an executor for {executor.task_type}")
            collected[executor.task_type] = executor

        self._call_each("netautod_register_executors", register=register)
        return collected

    def platforms(self) -> list[Path]:
        """Paths of the CLI platform definitions that plugins bring."""
        collected: list[Path] = []
        self._call_each("netautod_register_platforms", register=collected.append)
        return collected

    def execution_finished(self, execution: FinishedExecution) -> None:
        """Calls every observer."""
        self._call_each("netautod_execution_finished", execution=execution)

    def _call_each(self, hook: str, **arguments: Any) -> None:
        """Calls the hook plugin by plugin, so that one that fails keeps no other from being called."""
        for implementation in getattr(self._pluggy.hook, hook).get_hookimpls():
            try:
                implementation.function(**arguments)
            except Exception as failure:
                name = implementation.plugin_name
                logger.exception("%s of plugin %s failed", hook, name)
                self._mark_broken(name, f"{hook}: {type(failure).__name__}: {failure}")

    def _mark_broken(self, name: str, error: str) -> None:
        self.statuses = [
            replace(status, ok=False, error=error) if status.name == name else status
            for status in self.statuses
        ]
