"""Collects what the loaded plugins register, and calls their observers."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pluggy

from netautod.automation.executions.running.registered_executors import prepared_executor
from netautod.automation.system.models import PluginStatus
from netautod.core.clock import Clock, SystemClock
from netautod.core.logs.setup import OF_PLUGINS
from netautod.core.work.plugin_calls import no_exit
from netautod.plugin_api import (
    AgentTool,
    AuthProvider,
    BlockingExecutor,
    Collector,
    Executor,
    ModelBackend,
    OpenInventory,
    PluginHost,
    PluginService,
    PluginStorage,
)
from netautod.plugin_api.storage import NoStorage
from netautod.plugin_host.loading.failures import PluginError, one_line
from netautod.plugin_host.loading.loader import LoadedPlugins, call
from netautod.plugin_host.loading.refusals import (
    refuse_collector,
    refuse_executor,
    refuse_login,
    refuse_model,
    refuse_tool,
)
from netautod.plugin_host.registering.events import PluginEvents
from netautod.plugin_host.registering.registry import Names, Turn
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient

logger = logging.getLogger(__name__)
Named = TypeVar("Named")
OBSERVER_HOOKS = (
    "netautod_execution_finished",
    "netautod_config_changed",
    "netautod_backup_stale",
    "netautod_credential_suspended",
    "netautod_device_changed",
)


@dataclass(frozen=True, kw_only=True)
class HostValues:
    """The values that the host of every plugin is made from; `settings` are the sections that were read, by
    plugin.

    `storage` returns that of a plugin by its name.
    """

    http: GuardedClient = field(default_factory=lambda: GuardedClient(AddressRules()))
    instance_name: str = "netautod"
    settings: Mapping[str, Any] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    storage: Callable[[str], PluginStorage] = lambda name: NoStorage()
    events: PluginEvents = field(default_factory=PluginEvents)


class PluginManager:
    """A manager that collects what the loaded plugins register. A broken one is fatal only if it is
    `required`.
    """

    def __init__(
        self, loaded: LoadedPlugins, *, required: Iterable[str] = (), values: HostValues | None = None
    ) -> None:
        self._loaded = loaded
        self._required = tuple(required)
        self._values = values or HostValues()
        self._owners: dict[str, str] = {}  # plugins by the names of their services
        self._hosts: dict[str, PluginHost[Any]] = {}

    @property
    def statuses(self) -> Sequence[PluginStatus]:
        """Return the status of every plugin that is installed and not disabled: whether it works
        until now.
        """
        return self._loaded.statuses

    @property
    def events(self) -> PluginEvents:
        """Return the events of plugins."""
        return self._values.events

    def check_required(self) -> None:
        """Raise PluginError if a required plugin is missing or broken."""
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
        """Return executors by task type; the first plugin (see `precedence`) to register a type keeps it.

        Raises PluginError if a required plugin fails here; another one is only marked.
        """

        def offered(turn: Turn[Executor]) -> Callable[[Executor | BlockingExecutor], None]:
            return lambda executor: turn.register(lambda: _executor(executor))

        return self.collect("netautod_register_executors", "an executor for", offered)

    def auth_providers(self) -> Mapping[str, AuthProvider]:
        """Return providers of logins by name; the first plugin to register a name keeps it."""

        def offered(turn: Turn[AuthProvider]) -> Callable[[AuthProvider], None]:
            return lambda provider: turn.register(lambda: _login(provider))

        return self.collect("netautod_register_auth_providers", "the auth provider", offered)

    def inventory_sources(self) -> Mapping[str, OpenInventory]:
        """Return kinds of inventory by name, in the order in which an inventory system is offered to them."""

        def offered(turn: Turn[OpenInventory]) -> Callable[[str, OpenInventory], None]:
            return lambda name, open_source: turn.register(lambda: _kind(name, open_source))

        return self.collect("netautod_register_inventory_sources", "the inventory source", offered)

    def collectors(self) -> Mapping[str, Collector]:
        """Return collectors by transport; the first plugin to register a transport keeps it."""

        def offered(turn: Turn[Collector]) -> Callable[[Collector], None]:
            return lambda collector: turn.register(lambda: _collector(collector))

        return self.collect("netautod_register_collectors", "a collector for", offered)

    def models(self) -> Mapping[str, ModelBackend]:
        """Return model back ends by name; agents use the first."""

        def offered(turn: Turn[ModelBackend]) -> Callable[[ModelBackend], None]:
            return lambda model: turn.register(lambda: _model(model))

        return self.collect("netautod_register_models", "the model back end", offered)

    def tools(self) -> Mapping[str, AgentTool]:
        """Return tools of agents by name; the first plugin to register a name keeps it."""

        def offered(turn: Turn[AgentTool]) -> Callable[[AgentTool], None]:
            return lambda tool: turn.register(lambda: _tool(tool))

        return self.collect("netautod_register_tools", "the agent tool", offered)

    def register_platforms(self, register: Callable[[Path], object]) -> None:
        """Let each plugin call `register` with the paths of its CLI platforms.

        One that is refused (it raises) marks its plugin; raises PluginError if that one is required.
        """
        hook = "netautod_register_platforms"
        for implementation in self._loaded.implementations(hook):
            self._call(hook, implementation, {"register": register})
        self.check_required()

    def services(self) -> list[tuple[str, PluginService]]:
        """Return the services that plugins register, each with the name of its plugin."""
        collected: list[tuple[str, PluginService]] = []
        hook = "netautod_register_services"
        for implementation in self._loaded.implementations(hook):
            mine: list[PluginService] = []

            def keep(name: str = implementation.plugin_name, mine: list[PluginService] = mine) -> None:
                collected.extend((name, service) for service in mine)

            self._call(hook, implementation, {"register": mine.append}, then=keep)
        self.check_required()
        return collected

    def observe_with(self, plugin: str, service: object) -> None:
        """Make the hook methods of a service observers; raises PluginValidationError for a wrong one."""
        name = f"{plugin}:{len(self._owners)}"
        self._loaded.add(service, name)
        self._owners[name] = plugin

    def observers(self) -> Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], None]]]:
        """Return functions that call all observers of a plugin with a hook's arguments, by plugin
        and hook.
        """
        found: dict[str, dict[str, Callable[[Mapping[str, Any]], None]]] = {}
        for hook in OBSERVER_HOOKS:
            by_plugin: dict[str, list[pluggy.HookImpl]] = {}
            for implementation in self._loaded.implementations(hook):
                owner = self._owners.get(implementation.plugin_name, implementation.plugin_name)
                by_plugin.setdefault(owner, []).append(implementation)
            for owner, implementations in by_plugin.items():
                found.setdefault(owner, {})[hook] = partial(_call_all, implementations)
        return found

    def mark_broken(self, plugin: str, hook: str, failure: BaseException) -> None:
        """Show the failure as the plugin's error, until the next start."""
        self._loaded.mark_broken(plugin, f"{hook}: {one_line(failure)}")

    def collect(
        self, hook: str, kind: str, offered: Callable[[Turn[Named]], Callable[..., None]]
    ) -> Mapping[str, Named]:
        """Collect what plugins register under names by a hook; `offered` makes the `register` of a plugin's
        turn.

        Raises PluginError if a required plugin fails here; another one is only marked.
        """
        names = Names[Named](kind, about=self._loaded.about, yields=self._loaded.yields)
        for implementation in self._loaded.implementations(hook):
            turn = names.turn_of(implementation.plugin_name)
            self._call(hook, implementation, {"register": offered(turn)}, then=turn.end)
        self.check_required()
        return names.things

    def _call(
        self,
        hook: str,
        implementation: pluggy.HookImpl,
        arguments: Mapping[str, Any],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """Call an implementation. A plugin that fails is marked, and keeps no other one from being called."""
        name = implementation.plugin_name
        try:
            with no_exit():
                call(implementation, {**arguments, "host": self._host(name)})
            then()
        except Exception as failure:
            logger.exception("%s of plugin %s failed", hook, name)
            self.mark_broken(name, hook, failure)

    def _host(self, name: str) -> PluginHost[Any]:
        if name not in self._hosts:
            values = self._values
            settings = values.settings.get(name)
            if settings is None and name in self._loaded.sections:
                settings = self._loaded.sections[name]()
            self._hosts[name] = PluginHost(
                settings=settings,
                http=values.http,
                instance_name=values.instance_name,
                name=name,
                clock=values.clock,
                logger=logging.getLogger(f"{OF_PLUGINS}{name}"),
                storage=values.storage(name),
                publish=partial(self.events.publish, name),
            )
        return self._hosts[name]


def _call_all(implementations: Iterable[pluggy.HookImpl], arguments: Mapping[str, Any]) -> None:
    for implementation in implementations:
        call(implementation, arguments)


def _executor(executor: Executor | BlockingExecutor) -> tuple[str, Executor]:
    refuse_executor(executor)
    return executor.task_type, prepared_executor(executor)


def _collector(collector: Collector) -> tuple[str, Collector]:
    refuse_collector(collector)
    return collector.transport, collector


def _model(model: ModelBackend) -> tuple[str, ModelBackend]:
    refuse_model(model)
    return model.name, model


def _tool(tool: AgentTool) -> tuple[str, AgentTool]:
    refuse_tool(tool)
    return tool.name, tool


def _login(provider: AuthProvider) -> tuple[str, AuthProvider]:
    refuse_login(provider)
    return provider.name, provider


def _kind(name: str, open_source: OpenInventory) -> tuple[str, OpenInventory]:
    if not isinstance(name, str) or not name.strip():
        raise PluginError(f"the name of a kind of inventory is a text, not {name!r}")
    if not callable(open_source):
        raise PluginError(f"what opens the inventory {name} is not a function")
    return name, open_source
