"""What is there before any work is done: who watches it, who may come in, and who hears of it."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from netautod.assembly import stages
from netautod.assembly.base import Base
from netautod.assembly.parts.events import EventParts
from netautod.assembly.parts.plugins import observers_of
from netautod.assembly.parts.webhooks import WebhookParts
from netautod.assembly.stages import Logins
from netautod.core.identity.refusals import Refusals
from netautod.core.watch.loop import Ticker
from netautod.plugin_host.observers import Observers
from netautod.store.leases.named import NamedLeases


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    observers: Observers
    leases: NamedLeases
    webhooks: WebhookParts
    logins: Logins
    events: EventParts
    refusals: Refusals


async def surroundings(stack: AsyncExitStack, base: Base) -> Surroundings:
    """All of it runs until the `stack` is left."""
    settings, installation, enter = base.settings, base.installation, stack.enter_async_context
    await enter(_ticker(base))
    observers = await enter(observers_of(base.plugins, base.metrics))
    leases = await enter(stages.leases(settings, installation, base.node_id))
    await enter(installation.stores.subscriptions)
    webhooks = stages.webhooks(settings, installation, base.http, leases, base.additions.events)
    for part in (webhooks.dispatcher, webhooks.relay, webhooks.expiring):
        await enter(part)
    logins = await stages.logins(settings, installation, base.plugins)
    stack.push_async_callback(logins.auth.providers.close)
    await enter(logins.sessions.activity)
    await enter(logins.auth.lookups)
    events = stages.events(settings, installation, logins)
    await enter(events.streams)
    return Surroundings(
        observers=observers,
        leases=leases,
        webhooks=webhooks,
        logins=logins,
        events=events,
        refusals=await enter(stages.refusals(installation)),
    )


def _ticker(base: Base) -> Ticker:
    metrics = base.metrics
    late = partial(metrics.observe, "loop_lag_seconds")
    return Ticker(base.watched.board, partial(metrics.set, "loop_stalls"), late=late)
