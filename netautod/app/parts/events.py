"""The part of the composition root about event streams: their sources, who stays, who publishes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from netautod.app.data.stores import Stores
from netautod.configs.event_feed import ConfigFeed
from netautod.core.clock import Clock
from netautod.core.identity import Caller
from netautod.discovery.polling.event_feed import PollFeed
from netautod.events.listeners import Listeners
from netautod.events.log_follower import LogFollower
from netautod.events.ordering import Ordering
from netautod.events.publishing import EventPublisher
from netautod.events.replay import Replay
from netautod.events.service import EventService
from netautod.events.settings import EventSettings
from netautod.events.tailer import Tailer
from netautod.executions.event_feed import ExecutionFeed, ExecutionLogs
from netautod.store.client import Database


class Standings(Protocol):
    """Who is behind tokens."""

    async def callers(self, tokens: Collection[str]) -> Mapping[str, Caller]: ...


@dataclass(frozen=True, kw_only=True)
class EventParts:
    """`publisher` is for events that have no record of their own."""

    streams: EventService
    publisher: EventPublisher


def events_of(
    *, database: Database, stores: Stores, clock: Clock, standings: Standings, settings: EventSettings
) -> EventParts:
    feeds = (ExecutionFeed(database), PollFeed(database), ConfigFeed(database), stores.events)
    logs = ExecutionLogs(executions=stores.executions, logs=stores.execution_logs)
    listeners = Listeners(most=settings.listeners, check=standings.callers)
    tailer = Tailer(
        database=database,
        feeds=feeds,
        clock=clock,
        streams=settings.change_streams,
        orgs=lambda: listeners.orgs,
        found=Ordering(listeners.add).add,
        lost=listeners.missed,
    )
    streams = EventService(
        listeners=listeners,
        tailer=tailer,
        follower=LogFollower(logs),
        replay=Replay(feeds, clock=clock),
        logs=logs,
        clock=clock,
    )
    return EventParts(streams=streams, publisher=EventPublisher(store=stores.events, clock=clock))
