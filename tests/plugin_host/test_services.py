"""Plugins with a lifetime: started, observing, stopped; a broken one is left out."""

import asyncio
from typing import Any

import pytest

from netautod.core.metrics import Metrics
from netautod.plugin_api import FinishedExecution, PluginHost, hookimpl
from netautod.plugin_host.loading.loader import LoadedPlugins, PluginError
from netautod.plugin_host.manager import HostValues, PluginManager
from netautod.plugin_host.observers import Observers
from netautod.plugin_host.offers.services import running_services
from tests.plugin_host.conftest import errors
from tests.plugins.events import ended

Steps = list[str]


class Living:
    """A service that notes its steps; `entering` and `leaving` are what it does there."""

    def __init__(self, steps: Steps, *, entering: Any = None, leaving: Any = None) -> None:
        self._steps, self._entering, self._leaving = steps, entering, leaving

    async def __aenter__(self) -> "Living":
        self._steps.append("entered")
        await _done(self._entering)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._steps.append("left")
        await _done(self._leaving)

    @hookimpl
    def netautod_execution_finished(self, execution: FinishedExecution) -> None:
        self._steps.append(execution.state)


class Misspelt(Living):
    @hookimpl
    def netautod_execution_finish(self) -> None:
        raise AssertionError("no such hook")


class Endless:
    """Stands for a step that never ends."""


async def _done(step: Any) -> None:
    if isinstance(step, Exception):
        raise step
    if step is Endless:
        await asyncio.Event().wait()


class Bringing:
    """The plugin that registers the services."""

    def __init__(self, *services: Any) -> None:
        self._services = services
        self.host: PluginHost[Any] | None = None

    @hookimpl
    def netautod_register_services(self, register: Any, host: PluginHost[Any]) -> None:
        self.host = host
        for service in self._services:
            register(service)


def managing(
    *, required: tuple[str, ...] = (), values: HostValues | None = None, **plugins: object
) -> PluginManager:
    return PluginManager(LoadedPlugins.of(plugins), required=required, values=values)


async def test_a_service_observes_between_its_start_and_its_stop() -> None:
    steps: Steps = []
    plugin = Bringing(Living(steps))
    values = HostValues(instance_name="lab", settings={"living": 7})
    manager = managing(values=values, living=plugin)
    async with running_services(manager), Observers(manager, Metrics()) as observers:
        observers.execution_finished(ended())
    assert steps == ["entered", "completed", "left"]
    assert plugin.host == PluginHost(settings=7, http=values.http, instance_name="lab", name="living")
    assert errors(manager) == {"living": None}


async def test_services_of_one_plugin_share_its_thread_and_its_errors() -> None:
    steps: Steps = []

    class Raising(Living):
        @hookimpl
        def netautod_execution_finished(self, execution: FinishedExecution) -> None:
            raise RuntimeError("out of luck")

    manager = managing(two=Bringing(Living(steps), Raising(steps)))
    async with running_services(manager), Observers(manager, Metrics()) as observers:
        assert list(manager.observers()) == ["two"]
        observers.execution_finished(ended())
    await asyncio.sleep(0)
    assert errors(manager) == {"two": "netautod_execution_finished: RuntimeError: out of luck"}


@pytest.mark.parametrize(
    ("service", "error"),
    [
        pytest.param(
            lambda steps: Living(steps, entering=OSError("no port")), "OSError: no port", id="it raises"
        ),
        pytest.param(lambda steps: Living(steps, entering=Endless), "TimeoutError:", id="it takes too long"),
        pytest.param(Misspelt, "unknown hook 'netautod_execution_finish'", id="it has no such hook"),
        pytest.param(lambda steps: object(), "AttributeError: ", id="it has no lifetime"),
    ],
)
async def test_one_that_does_not_start_is_left_out_unless_it_is_required(service: Any, error: str) -> None:
    steps: Steps = []
    manager = managing(bad=Bringing(service([])), good=Bringing(Living(steps)))
    async with running_services(manager, seconds=0.2), Observers(manager, Metrics()) as observers:
        observers.execution_finished(ended())
    assert steps == ["entered", "completed", "left"]
    assert error in str(errors(manager)["bad"])
    required = managing(required=("bad",), bad=Bringing(service([])))
    with pytest.raises(PluginError, match="the required plugin bad is not available"):
        async with running_services(required, seconds=0.2):
            pass


@pytest.mark.parametrize(
    "leaving", [pytest.param(OSError("gone"), id="it raises"), pytest.param(Endless, id="it takes too long")]
)
async def test_one_that_does_not_stop_keeps_no_other_from_stopping(
    leaving: Any, caplog: pytest.LogCaptureFixture
) -> None:
    steps: Steps = []
    manager = managing(a=Bringing(Living(steps)), b=Bringing(Living([], leaving=leaving)))
    async with running_services(manager, seconds=0.2):
        pass
    assert steps == ["entered", "left"]
    assert "a service of plugin b did not stop" in caplog.text
