"""Loads one plugin and asks it for everything that it registers; runs in a process of its own."""

import logging
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

from netautod.core.settings.field import Checked, SettingsError
from netautod.core.settings.table import Setting
from netautod.plugin_api import VERSION, PluginApiDeprecation
from netautod.plugin_api.version import WANTED
from netautod.plugin_host.checking.hooks import implemented, with_hooks
from netautod.plugin_host.checking.platform_lines import with_line
from netautod.plugin_host.loading.api_version import refuse_version, refuse_version_of_source
from netautod.plugin_host.loading.failures import PluginError, one_line
from netautod.plugin_host.loading.loader import LoadedPlugins, installed
from netautod.plugin_host.loading.precedence import is_built_in
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers.registrations import REGISTRATIONS, register_all
from netautod.transport.ssh.platform.registry import PlatformRegistry

_SETTINGS = "netautod_register_settings"
_NO_LINES = (
    "[change] has no [change.lines]: a line of an agent whose first word may be a command on any platform is "
    "refused"
)


@dataclass(frozen=True, kw_only=True)
class Examined:
    """A plugin under examination: its entry point and the folder it is imported from; `report` takes (kind,
    text).

    `core` are the settings of the service; `built_in` is what its own plugins register, by hook.
    """

    name: str
    module: str
    path: Path
    report: Callable[[str, str], None]
    core: Sequence[Setting]
    built_in: Mapping[str, list[str]]

    def run(self) -> None:
        """Report problems and notes as sentences, what it registers, and each step before it is made."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", PluginApiDeprecation)
            plugin = self._imported()
            if plugin is not None:
                self._examine(plugin)
        for warning in dict.fromkeys(str(one.message) for one in caught):
            self.report("note", warning)

    def _imported(self) -> object | None:
        self.report("step", f"importing {self.module}")
        entry = EntryPoint(name=self.name, value=self.module, group="netautod")
        before = set(threading.enumerate())
        try:
            plugin: object = entry.load()
        except BaseException as failure:  # noqa: BLE001  # it may fail in any way
            self.report("problem", self._import_failure(entry, failure))
            return None
        for thread in set(threading.enumerate()) - before:
            self.report(
                "problem", f"importing it starts the thread {thread.name!r}: the process is forked later"
            )
        return plugin

    def _import_failure(self, entry: EntryPoint, failure: BaseException) -> str:
        try:
            refuse_version_of_source(entry)
        except PluginError as refused:
            return refused.text
        sentence = f"{self._place(failure)}{one_line(failure)}"
        missing = getattr(failure, "name", None)
        if isinstance(failure, ModuleNotFoundError) and missing == entry.module.partition(".")[0]:
            near = get_close_matches(missing, _packages(self.path), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            sentence += f": the entry point {self.name} names it{hint}"
        return sentence

    def _examine(self, plugin: object) -> None:
        try:
            refuse_version(plugin)
        except PluginError as error:
            self.report("problem", error.text)
        hooks, sentences = implemented(plugin)
        for sentence in sentences:
            self.report("problem", f"{self.module}: {sentence}")
        if not hooks and not sentences:
            self.report("problem", f"{self.module} implements no hook: it does nothing")
        self.report("plugin", f"{self.name}, written for plugin API {getattr(plugin, WANTED, VERSION)}")
        observed = [name for name in hooks if name not in REGISTRATIONS and name != _SETTINGS]
        if observed:
            self.report("registers", f"observes: {', '.join(observed)}")
        loaded = self._loaded(with_hooks(self.module, hooks))
        if loaded is not None:
            self._register(loaded, hooks)

    def _loaded(self, plugin: object) -> LoadedPlugins | None:
        """Load it with the plugins of netautod's own; None if this one is left out, which is reported."""
        self.report("step", f"calling {_SETTINGS}")
        mine = cast(EntryPoint, _Given(name=self.name, value=self.module, plugin=plugin))
        with _exceptions() as failures:
            loaded = LoadedPlugins.load(self.core, found=lambda: [*built_in(), mine])
            loaded.log_failures()
        status = next(one for one in loaded.statuses if one.name == self.name and one.version is None)
        if not status.ok:
            failure = failures[-1] if failures else None
            place = "" if failure is None else self._place(failure)
            taken = status.error == "PluginError: another plugin has this name"
            reason = f"the name {self.name} is that of a plugin of netautod's own" if taken else status.error
            self.report("problem", f"{place}{reason}")
            return None
        self._check_settings(loaded)
        return loaded

    def _check_settings(self, loaded: LoadedPlugins) -> None:
        if self.name not in loaded.sections:
            return
        declared = loaded.sections[self.name]
        self.report("registers", f"settings: [{self.name}], {declared.__name__}")
        made = declared()
        try:
            if isinstance(made, Checked):
                made.check()
        except SettingsError as error:
            self.report("note", f"the service does not start without settings for it: {error.text}")
        except Exception as error:  # noqa: BLE001  # it may fail in any way
            self.report("problem", f"{self._place(error)}its settings fail at their check: {one_line(error)}")

    def _register(self, loaded: LoadedPlugins, hooks: Mapping[str, Any]) -> None:
        manager = PluginManager(loaded)
        for hook, registered in REGISTRATIONS.items():
            if hook not in hooks:
                continue
            self.report("step", f"calling {hook}")
            with _exceptions() as failures:
                names = set(registered(manager)) - set(self.built_in[hook])
            mine = [failure for failure in failures if self._error_of(loaded, hook, failure)]
            for failure in mine[-1:]:
                self.report("problem", f"{self._place(failure)}{hook}: {with_line(failure, self.path)}")
            if names:
                kind = hook.removeprefix("netautod_register_").replace("_", " ")
                self.report("registers", f"{kind}: {', '.join(sorted(names))}")
            elif not mine:
                self.report("note", f"{hook} registers nothing with the settings as they are by default")
        self._check_services(manager)
        if "netautod_register_platforms" in hooks:
            self._check_platforms(manager)

    def _check_platforms(self, manager: PluginManager) -> None:
        """Note platforms that can be changed but do not say which lines are configuration."""
        registry = PlatformRegistry()

        def register(path: Path) -> None:
            platform = registry.register(path)
            if platform.change is not None and not platform.change.lines.words:
                self.report("note", f"{path.name}: {_NO_LINES}")

        manager.register_platforms(register)

    def _check_services(self, manager: PluginManager) -> None:
        for plugin, service in manager.services():
            if plugin == self.name:
                for sentence in implemented(service)[1]:
                    self.report("problem", f"{type(service).__name__}: {sentence}")

    def _error_of(self, loaded: LoadedPlugins, hook: str, failure: BaseException) -> bool:
        """Return whether the failure is one of this plugin, and not of a plugin of netautod."""
        child_report = f"{hook}: {one_line(failure)}"
        return any(one.name == self.name and one.error == child_report for one in loaded.statuses)

    def _place(self, failure: BaseException) -> str:
        """Return the last line of the plugin's own that the failure came through."""
        if isinstance(failure, SyntaxError) and failure.filename and failure.lineno:
            return f"{self._shown(failure.filename)}, line {failure.lineno}: "
        frames = [
            frame
            for frame in traceback.extract_tb(failure.__traceback__)
            if Path(frame.filename).is_relative_to(self.path)
        ]
        return f"{self._shown(frames[-1].filename)}, line {frames[-1].lineno}: " if frames else ""

    def _shown(self, file: str) -> str:
        path = Path(file)
        return str(path.relative_to(self.path) if path.is_relative_to(self.path) else path)


@dataclass(frozen=True, kw_only=True)
class _Given:
    """A stand-in for the entry point of a plugin that is imported already."""

    name: str
    value: str
    plugin: object
    dist: None = None

    @property
    def module(self) -> str:
        return self.value.partition(":")[0]

    def load(self) -> object:
        return self.plugin


@cache
def built_in() -> list[EntryPoint]:
    """Return the entry points of netautod's own plugins."""
    return [entry for entry in installed() if is_built_in(entry)]


def built_in_registrations(core: Sequence[Setting]) -> Mapping[str, list[str]]:
    """Return what the plugins of netautod's own register, by hook."""
    return register_all(PluginManager(LoadedPlugins.load(core, found=built_in)))


@contextmanager
def _exceptions() -> Iterator[list[BaseException]]:
    """Collect what the loader and the manager log with a trace within the block."""
    caught: list[BaseException] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info and record.exc_info[1] is not None:
                caught.append(record.exc_info[1])

    logger, handler = logging.getLogger("netautod.plugin_host"), Handler()
    logger.addHandler(handler)
    propagates, logger.propagate = logger.propagate, False
    try:
        yield caught
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


def _packages(path: Path) -> Iterable[str]:
    return [folder.name for folder in path.iterdir() if (folder / "__init__.py").is_file()]
