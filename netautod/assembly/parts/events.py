"""The part of the composition root about event streams: their sources, who stays, who publishes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from netautod.activity.events.publishing import EventPublisher
from netautod.activity.events.service import EventService
from netautod.activity.events.settings import EventSettings
from netautod.activity.events.streaming.listeners import Listeners
from netautod.activity.events.streaming.log_follower import LogFollower
from netautod.activity.events.streaming.ordering import Ordering
from netautod.activity.events.streaming.replay import Replay
from netautod.activity.events.tailer import Tailer
from netautod.assembly.data.stores import Stores
from netautod.automation.executions.events.feed import ExecutionFeed, ExecutionLogs
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller
from netautod.network.configs.events.feed import ConfigFeed
from netautod.network.discovery.polling.event_feed import PollFeed
from netautod.store.client import Database


class TokenStates(Protocol):
    """Who is behind tokens."""

    async def callers(self, tokens: Collection[str]) -> Mapping[str, Caller]: ...


@dataclass(frozen=True, kw_only=True)
class EventParts:
    """`publisher` is for events that have no record of their own."""

    streams: EventService
    publisher: EventPublisher


def events_of(
    *, database: Database, stores: Stores, clock: Clock, token_states: TokenStates, settings: EventSettings
) -> EventParts:
    feeds = (ExecutionFeed(database), PollFeed(database), ConfigFeed(database), stores.events)
    logs = ExecutionLogs(executions=stores.executions, logs=stores.execution_logs)
    listeners = Listeners(most=settings.listeners, check=token_states.callers)
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
