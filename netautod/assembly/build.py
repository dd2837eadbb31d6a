"""Settings, plugins and an open installation become a running service."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tornado.web import Application

from netautod.activity.events.service import EventService
from netautod.assembly.answering import application_of
from netautod.assembly.base import base_of
from netautod.assembly.configuration import Configuration
from netautod.assembly.draining import Draining
from netautod.assembly.installation import Installation
from netautod.assembly.parts.devices import DeviceParts
from netautod.assembly.surroundings import surroundings
from netautod.assembly.works import begin, works
from netautod.automation.executions.abandoned.watched import Watched
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.tasks.service import TaskService
from netautod.core.metrics import Metrics
from netautod.http.status.health import Health, HealthCheck
from netautod.network.discovery.polling.poller import Poller
from netautod.plugin_host.manager import PluginManager


@dataclass(frozen=True, kw_only=True)
class Service:
    """The running parts of one node; `poller` is None if it polls no devices."""

    application: Application
    node: ExecutionNode
    poller: Poller | None
    events: EventService
    metrics: Metrics
    plugins: PluginManager
    devices: DeviceParts
    tasks: TaskService

    @property
    def drained(self) -> Sequence[Draining]:
        """What has to end before the node stops."""
        running: tuple[Draining, ...] = (self.events, self.node)
        return running if self.poller is None else (*running, self.poller)


@asynccontextmanager
async def build(
    configuration: Configuration,
    installation: Installation,
    health: Callable[[], Awaitable[Health]],
    watched: Watched,
) -> AsyncIterator[Service]:
    """Builds everything and starts what runs in the background; the caller listens and drains."""
    base = await base_of(configuration, installation, watched)
    async with AsyncExitStack() as stack:
        around = await surroundings(stack, base)
        made = await works(stack, base, around)
        await begin(stack, base, around, made)
        yield Service(
            application=application_of(base, around, made, HealthCheck(health)),
            node=made.runs.node,
            poller=made.discovery.poller,
            events=around.events.streams,
            metrics=base.metrics,
            plugins=base.plugins,
            devices=made.devices.devices,
            tasks=made.runs.tasks,
        )
