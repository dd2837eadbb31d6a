"""Observers of plugins: told in order in their own threads, and never in the way of anybody."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from netautod.core.metrics import Metrics
from netautod.plugin_api import ConfigChanged, FinishedExecution, hookimpl, hookspecs
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import OBSERVER_HOOKS, PluginManager
from netautod.plugin_host.observers import Observers
from tests.plugins.events import CHANGED, ended


class Notes:
    """A plugin that notes the states that it is told, and then does what the test says."""

    def __init__(self, then: Callable[[str], None] = lambda state: None) -> None:
        self._then = then
        self.told: list[str] = []
        self.threads: set[threading.Thread] = set()

    @hookimpl
    def netautod_execution_finished(self, execution: FinishedExecution) -> None:
        self.threads.add(threading.current_thread())
        self.told.append(execution.state)
        self._then(execution.state)


class Modest:
    """A plugin that wants no argument of one hook, and observes another one."""

    def __init__(self) -> None:
        self.told: list[object] = []

    @hookimpl
    def netautod_execution_finished(self) -> None:
        self.told.append("finished")

    @hookimpl
    def netautod_config_changed(self, event: ConfigChanged) -> None:
        self.told.append(event)


class Stuck(Notes):
    """A plugin that holds on to its first event until it is released."""

    def __init__(self) -> None:
        super().__init__(self._hold)
        self.entered, self.released = threading.Event(), threading.Event()

    def _hold(self, state: str) -> None:
        self.entered.set()
        self.released.wait(20)


@asynccontextmanager
async def observing(
    metrics: Metrics | None = None, *, options: dict[str, Any] | None = None, **plugins: object
) -> AsyncIterator[tuple[Observers, PluginManager]]:
    manager = PluginManager(LoadedPlugins.of(plugins))
    async with Observers(manager, metrics or Metrics(), **(options or {})) as observers:
        yield observers, manager


async def test_each_plugin_is_told_in_order_in_one_thread_of_its_own() -> None:
    first, second = Notes(), Notes()
    states = [str(number) for number in range(200)]
    async with observing(a=first, b=second) as (observers, _):
        for state in states:
            observers.execution_finished(ended(state=state))
    assert first.told == second.told == states
    assert (len(first.threads), len(second.threads)) == (1, 1)
    assert len(first.threads | second.threads | {threading.main_thread()}) == 3


async def test_a_plugin_names_only_what_it_wants() -> None:
    modest = Modest()
    async with observing(modest=modest) as (observers, _):
        assert observers.wanted("netautod_config_changed")
        assert not observers.wanted("netautod_backup_stale")
        observers.config_changed(CHANGED)
        observers.execution_finished(ended(state="completed"))
    assert modest.told == [CHANGED, "finished"]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ZeroDivisionError("out of luck"), id="it raises"),
        pytest.param(SystemExit("bye"), id="it exits"),
    ],
)
async def test_one_that_fails_is_counted_shown_and_told_the_next_event(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def unlucky(state: str) -> None:
        if state == "failed":
            raise error

    raising, other, metrics = Notes(unlucky), Notes(), Metrics()
    async with observing(metrics, raising=raising, other=other) as (observers, manager):
        for state in ("failed", "completed"):
            observers.execution_finished(ended(state=state))
    await asyncio.sleep(0)  # the thread's last report has been scheduled on the loop
    assert raising.told == other.told == ["failed", "completed"]
    assert metrics.value("plugins_observer_failures") == 1
    assert "netautod_execution_finished of plugin raising failed" in caplog.text
    errors = {status.name: status.error for status in manager.statuses}
    text = f"netautod_execution_finished: {type(error).__name__}: {error}"
    assert errors == {"raising": text, "other": None}


async def test_a_stuck_plugin_misses_events_and_no_other_one_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stuck, quick, metrics = Stuck(), Notes(), Metrics()
    options = {"queued": 3}
    async with observing(metrics, options=options, stuck=stuck, quick=quick) as (observers, _):
        observers.execution_finished(ended(state="0"))
        assert await asyncio.to_thread(stuck.entered.wait, 10)
        for number in range(1, 7):
            observers.execution_finished(ended(state=str(number)))
            async with asyncio.timeout(10):
                while len(quick.told) <= number:  # noqa: ASYNC110  # no event crosses the thread
                    await asyncio.sleep(0.001)
        assert (metrics.value("plugins_observer_dropped"), stuck.told) == (3, ["0"])
        stuck.released.set()
    assert stuck.told == ["0", "1", "2", "3"]
    assert quick.told == [str(number) for number in range(7)]
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert warnings == ["plugin stuck is 3 events behind: it misses events"]


@pytest.mark.parametrize(
    "queued", [pytest.param(1, id="its queue is full"), pytest.param(9, id="its queue has room")]
)
async def test_one_that_never_returns_is_left_behind_at_the_stop(
    queued: int, caplog: pytest.LogCaptureFixture
) -> None:
    stuck = Stuck()
    try:
        async with asyncio.timeout(60):
            options = {"stop_seconds": 0.05, "queued": queued}
            async with observing(options=options, stuck=stuck) as (observers, _):
                observers.execution_finished(ended(state="0"))
                assert await asyncio.to_thread(stuck.entered.wait, 10)
                observers.execution_finished(ended(state="1"))
    finally:
        stuck.released.set()
    assert "plugin stuck does not come to an end: 2 events are lost" in caplog.text
    assert all(thread.daemon for thread in stuck.threads)  # it would not keep the process from ending


async def test_after_the_stop_nothing_is_told() -> None:
    notes = Notes()
    async with observing(notes=notes) as (observers, _):
        pass
    observers.execution_finished(ended(state="late"))
    assert notes.told == []


def test_every_observer_is_told() -> None:
    hooks = [name for name in vars(hookspecs) if name.startswith("netautod_")]
    observers = [name for name in hooks if not name.startswith("netautod_register_")]
    assert observers == list(OBSERVER_HOOKS)
