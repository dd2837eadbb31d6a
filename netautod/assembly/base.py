"""The Base: the one value that the services of a node, or of a command beside it, are built from."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any
from uuid import uuid4

from netautod.assembly.configuration import Configuration
from netautod.assembly.data.leases import named_leases
from netautod.assembly.installation import Installation
from netautod.assembly.plugins import (
    Additions,
    build_client,
    build_storages,
    collect_additions,
    fill_secrets,
    load_plugins,
    observing,
)
from netautod.automation.executions.abandoned.watched import Watched
from netautod.automation.system.pauses import FollowedPauses
from netautod.core.disk import Space
from netautod.core.metrics import Metrics
from netautod.core.settings.risks import Risk
from netautod.core.watch.board import Board
from netautod.core.watch.loop import Ticker
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.observers import Observers
from netautod.store.leases.named import NamedLeases
from netautod.transport.outbound.client import GuardedClient


@dataclass(frozen=True, kw_only=True)
class Base(Installation):
    """An installation with its plugins and what a process needs to work on it.

    `additions` are what plugins add to the service, `risks` those that the settings take. For a command
    no observer runs, and the pauses are not followed: it does its work whichever organizations are paused.
    """

    http: GuardedClient
    plugins: PluginManager
    node_id: str
    leases: NamedLeases
    observers: Observers
    pauses: FollowedPauses
    additions: Additions = field(default_factory=Additions)
    risks: Sequence[Risk] = ()
    watched: Watched = field(default_factory=Watched)


@asynccontextmanager
async def open_base(
    configuration: Configuration, installation: Installation, watched: Watched
) -> AsyncIterator[Base]:
    """Load the plugins and run their observers, the leases and the pauses of a node within the block."""
    configuration = await fill_secrets(configuration, installation.secrets)
    installation = replace(installation, settings=configuration.settings)
    settings, metrics, node_id = installation.settings, installation.metrics, str(uuid4())
    http = build_client(settings)
    plugins = load_plugins(
        configuration,
        http=http,
        required=settings.plugins.required,
        clock=installation.clock,
        storage=build_storages(installation).of,
    )
    additions = collect_additions(plugins, installation.people.permissions)
    metrics.set("executions_slots", settings.executions.slots)
    metrics.set("process_restarts", watched.board.restarts)
    installation.database.room.follow(partial(_record_space, metrics))
    watched.board.begin(node_id)
    async with (
        stall_ticker(watched.board, metrics),
        observing(plugins, metrics) as observers,
        _leases(installation, node_id) as leases,
        FollowedPauses(store=installation.stores.system) as pauses,
    ):
        yield Base(
            **_fields(installation),
            http=http,
            plugins=plugins,
            node_id=node_id,
            leases=leases,
            observers=observers,
            pauses=pauses,
            additions=additions,
            risks=configuration.risks.warned,
            watched=watched,
        )


@asynccontextmanager
async def open_command_base(installation: Installation, plugins: PluginManager) -> AsyncIterator[Base]:
    """Hold the leases of a command that works beside the nodes, with `plugins` loaded but not observing."""
    node_id = str(uuid4())
    async with _leases(installation, node_id) as leases:
        yield Base(
            **_fields(installation),
            http=build_client(installation.settings),
            plugins=plugins,
            node_id=node_id,
            leases=leases,
            observers=Observers(plugins, installation.metrics),
            pauses=FollowedPauses(store=installation.stores.system),
        )


def stall_ticker(board: Board, metrics: Metrics) -> Ticker:
    """Return the ticker that shows a watching process that the loop turns, and counts its stalls and lag."""
    late = partial(metrics.observe, "loop_lag_seconds")
    return Ticker(board, partial(metrics.set, "loop_stalls"), late=late)


def _leases(installation: Installation, node_id: str) -> AbstractAsyncContextManager[NamedLeases]:
    return named_leases(
        database=installation.database,
        node_id=node_id,
        clock=installation.clock,
        settings=installation.settings.executions,
    )


def _fields(installation: Installation) -> dict[str, Any]:
    return {each.name: getattr(installation, each.name) for each in fields(Installation)}


def _record_space(metrics: Metrics, space: Space) -> None:
    metrics.set("database_disk_free_bytes", space.free)
