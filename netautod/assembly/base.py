"""What everything of a service is built on."""

from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from netautod.assembly import stages
from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import Installation
from netautod.assembly.parts.plugins import Additions, additions_of, filled_in, plugins_of
from netautod.assembly.settings import Settings
from netautod.automation.executions.abandoned.watched import Watched
from netautod.core.disk import Space
from netautod.core.metrics import Metrics
from netautod.plugin_host.manager import PluginManager
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient


@dataclass(frozen=True, kw_only=True)
class Base:
    """`configuration` with the secrets that it refers to; `additions` are what plugins add to the service."""

    configuration: Configuration
    installation: Installation
    watched: Watched
    node_id: str
    http: GuardedClient
    plugins: PluginManager
    additions: Additions

    @property
    def settings(self) -> Settings:
        return self.configuration.settings

    @property
    def metrics(self) -> Metrics:
        return self.installation.metrics


async def base_of(configuration: Configuration, installation: Installation, watched: Watched) -> Base:
    configuration = await filled_in(configuration, installation.secrets)
    settings, metrics = configuration.settings, installation.metrics
    http = GuardedClient(AddressRules.allowing(settings.outbound.allow))
    plugins = plugins_of(
        configuration,
        http,
        required=settings.plugins.required,
        clock=installation.clock,
        storage=stages.storages(settings, installation).of,
    )
    base = Base(
        configuration=configuration,
        installation=installation,
        watched=watched,
        node_id=str(uuid4()),
        http=http,
        plugins=plugins,
        additions=additions_of(plugins, installation.people.permissions),
    )
    metrics.set("executions_slots", settings.executions.slots)
    metrics.set("process_restarts", watched.board.restarts)
    installation.database.room.follow(partial(_note_space, metrics))
    watched.board.begin(base.node_id)
    return base


def _note_space(metrics: Metrics, space: Space) -> None:
    metrics.set("database_disk_free_bytes", space.free)
