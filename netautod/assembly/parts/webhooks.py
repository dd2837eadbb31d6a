"""The part of the composition root about webhooks: their service, the outboxes, and the deliveries."""

from collections.abc import Iterable
from dataclasses import dataclass

from netautod.activity.audit.service import AuditLog
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
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.assembly.data.stores import Stores
from netautod.automation.executions.events.outbox import execution_outbox
from netautod.core.clock import Clock
from netautod.core.metrics import Metrics
from netautod.network.configs.events.outbox import stale_backup_outbox, version_outbox
from netautod.network.devices.sessions.event_outbox import suspension_outbox
from netautod.network.discovery.changes.outbox import change_outbox
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
    relay: OutboxRelay
    dispatcher: Dispatcher
    expiring: Periodic


def build_outboxes(stores: Stores) -> tuple[Outbox, ...]:
    """Build the outbox of each resource that has events for webhooks."""
    return (
        execution_outbox(stores.executions),
        version_outbox(stores.configs),
        stale_backup_outbox(stores.stale_backups),
        suspension_outbox(stores.suspensions),
        change_outbox(stores.discovered),
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
    relay = OutboxRelay(
        webhooks=stores.webhooks,
        deliveries=stores.webhook_deliveries,
        subscriptions=stores.subscriptions,
        leases=leases,
        clock=clock,
        instance_name=instance_name,
        kick=dispatcher.kick,
        outboxes=build_outboxes(stores),
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
        publisher=WebhookPublisher(relay=relay, clock=clock),
        relay=relay,
        dispatcher=dispatcher,
        expiring=Periodic(
            upkeep.expire,
            name="the look for expired deliveries",
            seconds=EXPIRE_SECONDS,
            lease="webhooks:upkeep",
            leases=leases,
        ),
    )
