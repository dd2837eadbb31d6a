"""Settings, plugins and an open installation become a running service."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tornado.web import Application

from netautod.app.composition.answering import application_of
from netautod.app.composition.base import base_of
from netautod.app.composition.draining import Draining
from netautod.app.composition.surroundings import surroundings
from netautod.app.composition.works import begin, works
from netautod.app.configuration import Configuration
from netautod.app.installation import Installation
from netautod.app.parts.devices import DeviceParts
from netautod.app.plugins.manager import PluginManager
from netautod.app.watch.watched import Watched
from netautod.core.metrics import Metrics
from netautod.discovery.polling.poller import Poller
from netautod.events.service import EventService
from netautod.executions.running.node import ExecutionNode
from netautod.http.health import Health, HealthCheck
from netautod.tasks.service import TaskService


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
