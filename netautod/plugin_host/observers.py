"""Tells the observers of plugins what happened, in a thread for each plugin: none delays a run."""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from netautod.core.metrics import Metrics
from netautod.plugin_api.events import (
    BackupStale,
    ConfigChanged,
    CredentialSuspended,
    DeviceChanged,
    FinishedExecution,
)
from netautod.plugin_host.manager import PluginManager

logger = logging.getLogger(__name__)
QUEUED = 1000  # events that wait for one plugin
STOP_SECONDS = 5.0  # for the observers to take what waits at the stop


class Observers:
    """The observers of plugins: within `async with` each plugin has a thread; all methods are for the event
    loop.

    Notifying returns at once and raises nothing. A plugin that is `queued` events behind misses the new ones,
    and at the stop one that is not through within `stop_seconds` is left behind with what it has not seen.
    """

    def __init__(
        self,
        plugins: PluginManager,
        metrics: Metrics,
        *,
        queued: int = QUEUED,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._plugins = plugins
        self._metrics = metrics
        self._queued = queued
        self._stop_seconds = stop_seconds
        self._watchers: list[_Watcher] = []

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()

        def failed(plugin: str, hook: str, error: BaseException) -> None:
            with suppress(RuntimeError):  # the loop has ended: an observer that was left behind
                loop.call_soon_threadsafe(self._failed, plugin, hook, error)

        for plugin, hooks in self._plugins.observers().items():
            watcher = _Watcher(plugin=plugin, hooks=hooks, waiting=queue.Queue(self._queued), failed=failed)
            watcher.start()
            self._watchers.append(watcher)
        return self

    async def __aexit__(self, *_: object) -> None:
        watchers, self._watchers = self._watchers, []
        await asyncio.gather(*(asyncio.to_thread(one.stop, self._stop_seconds) for one in watchers))

    def wanted(self, hook: str) -> bool:
        """Return whether any plugin observes this hook."""
        return any(hook in watcher.hooks for watcher in self._watchers)

    def execution_finished(self, execution: FinishedExecution) -> None:
        self._notify("netautod_execution_finished", execution=execution)

    def config_changed(self, event: ConfigChanged) -> None:
        self._notify("netautod_config_changed", event=event)

    def backup_stale(self, event: BackupStale) -> None:
        self._notify("netautod_backup_stale", event=event)

    def credential_suspended(self, event: CredentialSuspended) -> None:
        self._notify("netautod_credential_suspended", event=event)

    def device_changed(self, event: DeviceChanged) -> None:
        self._notify("netautod_device_changed", event=event)

    def _notify(self, hook: str, **arguments: Any) -> None:
        for watcher in self._watchers:
            if hook in watcher.hooks and not watcher.offer(hook, arguments):
                self._metrics.add("plugins_observer_dropped")

    def _failed(self, plugin: str, hook: str, error: BaseException) -> None:
        self._metrics.add("plugins_observer_failures")
        self._plugins.mark_broken(plugin, hook, error)


Calls = Mapping[str, Callable[[Mapping[str, Any]], None]]
Failed = Callable[[str, str, BaseException], None]
Notification = tuple[str, Mapping[str, Any]]


@dataclass(kw_only=True, eq=False)
class _Watcher:
    """The thread of one plugin and what waits for it."""

    plugin: str
    hooks: Calls
    waiting: "queue.Queue[Notification | None]"
    failed: Failed
    missed: int = 0

    def start(self) -> None:
        # A daemon: an observer that never returns must not keep the process from ending.
        name = f"observers of {self.plugin}"
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def offer(self, hook: str, arguments: Mapping[str, Any]) -> bool:
        """Queue an event; return false if the plugin is too far behind."""
        try:
            self.waiting.put_nowait((hook, arguments))
        except queue.Full:
            if self.missed == 0:
                behind = self.waiting.qsize()
                logger.error("plugin %s is %d events behind: it misses events", self.plugin, behind)
            self.missed += 1
            return False
        if self.missed:
            logger.error("plugin %s has missed %d events", self.plugin, self.missed)
            self.missed = 0
        return True

    def stop(self, seconds: float) -> None:
        """Wait, in a thread of its own, for the observer's thread to take what there is."""
        deadline = time.monotonic() + seconds
        try:
            self.waiting.put(None, timeout=seconds)
            lost = 0
        except queue.Full:
            lost = 1  # the event being worked on; below, the end marker is counted in its place
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive():
            lost += self.waiting.qsize()
            logger.error("plugin %s does not come to an end: %d events are lost", self.plugin, lost)

    def _work(self) -> None:
        while (notification := self.waiting.get()) is not None:
            hook, arguments = notification
            try:
                self.hooks[hook](arguments)
            except BaseException as error:  # it may fail in any way; the next event must come
                logger.exception("%s of plugin %s failed", hook, self.plugin)
                self.failed(self.plugin, hook, error)
