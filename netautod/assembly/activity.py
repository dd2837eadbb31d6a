"""The activity wing: webhooks with their deliveries, event streams, and the audit of refused requests."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from netautod.activity.audit.refusals import RefusalLog
from netautod.activity.events.publishing import EventPublisher
from netautod.activity.events.service import EventService
from netautod.activity.events.streaming.listeners import Listeners
from netautod.activity.events.streaming.log_follower import LogFollower
from netautod.activity.events.streaming.ordering import Ordering
from netautod.activity.events.streaming.replay import Replay
from netautod.activity.events.tailer import Tailer
from netautod.activity.webhooks.delivery.dispatcher import Dispatcher
from netautod.activity.webhooks.delivery.lane import Lanes
from netautod.activity.webhooks.delivery.sender import Sender
from netautod.activity.webhooks.delivery.upkeep import DeliveryUpkeep
from netautod.activity.webhooks.names import EventNames
from netautod.activity.webhooks.outbox.outbox import Outbox
from netautod.activity.webhooks.outbox.relay import OutboxRelay
from netautod.activity.webhooks.publishing import WebhookPublisher
from netautod.activity.webhooks.secrets import WebhookSecrets
from netautod.activity.webhooks.service import WebhookService
from netautod.assembly.base import Base
from netautod.assembly.data.stores import Stores
from netautod.assembly.installation import Installation
from netautod.automation.executions.events.feed import ExecutionFeed, ExecutionLogs
from netautod.automation.executions.events.outbox import execution_outbox
from netautod.automation.tasks.owners.outbox import blocked_task_outbox
from netautod.core.identity.caller import Caller
from netautod.http.routing.services import Services
from netautod.network.configs.events.feed import ConfigFeed
from netautod.network.configs.events.outbox import stale_backup_outbox, version_outbox
from netautod.network.devices.sessions.event_outbox import suspension_outbox
from netautod.network.discovery.changes.outbox import change_outbox
from netautod.network.discovery.polling.event_feed import PollFeed
from netautod.store.leases.periodic import Periodic

EXPIRE_SECONDS = 60.0
REFUSALS_SECONDS = 5.0


class TokenCallers(Protocol):
    """The lookup of the callers behind tokens."""

    async def callers(self, tokens: Collection[str]) -> Mapping[str, Caller]: ...


@dataclass(frozen=True, kw_only=True)
class Webhooks(Services):
    """The services of webhooks; `publisher` publishes the events of plugins."""

    service: WebhookService
    publisher: WebhookPublisher
    relay: OutboxRelay
    dispatcher: Dispatcher
    expiring: Periodic


@dataclass(frozen=True, kw_only=True)
class Events(Services):
    """The services of event streams; `publisher` is for events without a record of their own."""

    streams: EventService
    publisher: EventPublisher


@dataclass(frozen=True, kw_only=True)
class Activity:
    """The services of the wing; `refusals` writes refused requests to the audit."""

    webhooks: Webhooks
    events: Events
    refusals: RefusalLog

    @property
    def services(self) -> tuple[object, ...]:
        """Return the services that handlers may get."""
        return *self.webhooks.services, *self.events.services


@asynccontextmanager
async def open_activity(base: Base, tokens: TokenCallers) -> AsyncIterator[Activity]:
    """Run the deliveries, the streams and the audit of refusals within the block."""
    webhooks, events = build_webhooks(base), build_events(base, tokens)
    refusals = RefusalLog(
        audit=base.audit, default_org=base.people.organizations.default_id, clock=base.clock
    )
    writing = Periodic(refusals.write_due, name="audit of refused requests", seconds=REFUSALS_SECONDS)
    async with (
        base.stores.subscriptions,
        webhooks.dispatcher,
        webhooks.relay,
        webhooks.expiring,
        events.streams,
        refusals,
        writing,
    ):
        yield Activity(webhooks=webhooks, events=events, refusals=refusals)


def build_outboxes(stores: Stores) -> tuple[Outbox, ...]:
    """Build the outbox of each resource that has events for webhooks."""
    return (
        execution_outbox(stores.executions),
        blocked_task_outbox(stores.task_owners),
        version_outbox(stores.configs),
        stale_backup_outbox(stores.stale_backups),
        suspension_outbox(stores.suspensions),
        change_outbox(stores.discovered),
    )


def build_webhooks(base: Base) -> Webhooks:
    stores, clock, settings = base.stores, base.clock, base.settings.webhooks
    webhooks, deliveries, subscriptions = stores.webhooks, stores.webhook_deliveries, stores.subscriptions
    secrets, instance_name = WebhookSecrets(base.vault), base.settings.server.instance_name
    sender = Sender(
        http=base.http, secrets=secrets, clock=clock, settings=settings, instance_name=instance_name
    )
    lanes = Lanes(
        webhooks=webhooks,
        deliveries=deliveries,
        sender=sender,
        clock=clock,
        metrics=base.metrics,
        settings=settings,
    )
    dispatcher = Dispatcher(lanes=lanes, subscriptions=subscriptions, leases=base.leases)
    relay = OutboxRelay(
        webhooks=webhooks,
        deliveries=deliveries,
        subscriptions=subscriptions,
        leases=base.leases,
        clock=clock,
        instance_name=instance_name,
        kick=dispatcher.kick,
        outboxes=build_outboxes(stores),
    )
    service = WebhookService(
        store=webhooks,
        deliveries=deliveries,
        subscriptions=subscriptions,
        names=EventNames(base.additions.events),
        secrets=secrets,
        sender=sender,
        http=base.http,
        clock=clock,
        audit=base.audit,
    )
    return Webhooks(
        service=service,
        publisher=WebhookPublisher(relay=relay, clock=clock),
        relay=relay,
        dispatcher=dispatcher,
        expiring=_build_expiry(base),
    )


def _build_expiry(base: Base) -> Periodic:
    upkeep = DeliveryUpkeep(
        deliveries=base.stores.webhook_deliveries,
        clock=base.clock,
        metrics=base.metrics,
        settings=base.settings.webhooks,
    )
    return Periodic(
        upkeep.expire,
        name="the look for expired deliveries",
        seconds=EXPIRE_SECONDS,
        lease="webhooks:upkeep",
        leases=base.leases,
    )


def build_events(installation: Installation, tokens: TokenCallers) -> Events:
    database, stores, clock = installation.database, installation.stores, installation.clock
    settings = installation.settings.events
    feeds = (ExecutionFeed(database), PollFeed(database), ConfigFeed(database, stores.configs), stores.events)
    logs = ExecutionLogs(executions=stores.executions, logs=stores.execution_logs)
    listeners = Listeners(most=settings.listeners, check=tokens.callers)
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
    return Events(streams=streams, publisher=EventPublisher(store=stores.events, clock=clock))
