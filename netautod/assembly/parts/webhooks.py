"""The part of the composition root about webhooks: their service, what they are owed, and its deliveries."""

from collections.abc import Iterable
from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
from netautod.activity.webhooks.delivery.dispatcher import Dispatcher
from netautod.activity.webhooks.delivery.lane import Lanes
from netautod.activity.webhooks.delivery.sender import Sender
from netautod.activity.webhooks.delivery.upkeep import DeliveryUpkeep
from netautod.activity.webhooks.intake import Intake, OwedEvents
from netautod.activity.webhooks.names import EventNames
from netautod.activity.webhooks.publishing import WebhookPublisher
from netautod.activity.webhooks.secrets import WebhookSecrets
from netautod.activity.webhooks.service import WebhookService
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.assembly.data.stores import Stores
from netautod.automation.executions.events.outbox import OwedExecutions
from netautod.core.clock import Clock
from netautod.core.metrics import Metrics
from netautod.network.configs.events.outbox import OwedStaleness, OwedVersions
from netautod.network.devices.sessions.event_outbox import OwedSuspensions
from netautod.network.discovery.changes.service import OwedChanges
from netautod.secrets.vault.vault import Vault
from netautod.store.leases.named import NamedLeases
from netautod.store.leases.periodic import Periodic
from netautod.transport.outbound.client import GuardedClient

EXPIRE_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class WebhookParts:
    """`names` takes those of plugins, `publisher` their events."""

    service: WebhookService
    names: EventNames
    publisher: WebhookPublisher
    intake: Intake
    dispatcher: Dispatcher
    expiring: Periodic


def owed_of(stores: Stores) -> tuple[OwedEvents, ...]:
    """What in the database is marked as owed to webhooks, by resource."""
    return (
        OwedExecutions(stores.executions),
        OwedVersions(stores.configs),
        OwedStaleness(stores.stale_backups),
        OwedSuspensions(stores.suspensions),
        OwedChanges(stores.discovered),
    )


def webhooks_of(
    *,
    stores: Stores,
    vault: Vault,
    clock: Clock,
    audit: AuditLog,
    metrics: Metrics,
    http: GuardedClient,
    leases: NamedLeases,
    settings: WebhooksSettings,
    instance_name: str,
    plugin_events: Iterable[str] = (),
) -> WebhookParts:
    secrets, names = WebhookSecrets(vault), EventNames(plugin_events)
    sender = Sender(http=http, secrets=secrets, clock=clock, settings=settings, instance_name=instance_name)
    lanes = Lanes(
        webhooks=stores.webhooks,
        deliveries=stores.webhook_deliveries,
        sender=sender,
        clock=clock,
        metrics=metrics,
        settings=settings,
    )
    dispatcher = Dispatcher(lanes=lanes, subscriptions=stores.subscriptions, leases=leases)
    upkeep = DeliveryUpkeep(
        deliveries=stores.webhook_deliveries, clock=clock, metrics=metrics, settings=settings
    )
    intake = Intake(
        webhooks=stores.webhooks,
        deliveries=stores.webhook_deliveries,
        subscriptions=stores.subscriptions,
        leases=leases,
        clock=clock,
        instance_name=instance_name,
        kick=dispatcher.kick,
        sources=owed_of(stores),
    )
    return WebhookParts(
        service=WebhookService(
            store=stores.webhooks,
            deliveries=stores.webhook_deliveries,
            subscriptions=stores.subscriptions,
            names=names,
            secrets=secrets,
            sender=sender,
            http=http,
            clock=clock,
            audit=audit,
        ),
        names=names,
        publisher=WebhookPublisher(intake=intake, clock=clock),
        intake=intake,
        dispatcher=dispatcher,
        expiring=Periodic(
            upkeep.expire,
            name="the look for expired deliveries",
            seconds=EXPIRE_SECONDS,
            lease="webhooks:upkeep",
            leases=leases,
        ),
    )
