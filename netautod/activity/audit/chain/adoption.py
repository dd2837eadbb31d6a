"""Adds the events of earlier versions to the chains, once, in the order of their moments."""

import logging
from datetime import datetime

from netautod.activity.audit.chain.links import chained
from netautod.activity.audit.chain.store import ChainStore
from netautod.activity.audit.documents import event_of
from netautod.core.identity.caller import OrgId
from netautod.core.work.guard import Guard, no_guard

logger = logging.getLogger(__name__)
BATCH = 1000


async def adopt(store: ChainStore, guard: Guard = no_guard) -> None:
    """Add unchained events to the chains, in the background; do nothing if that is done.

    After a crash it continues where it stopped. Nodes may run it at the same time: an event that one node has
    placed does not match another node's change, and a number that is taken ends a batch, which is then read
    again.
    """
    if await store.is_adopted():
        return
    for org_id in await store.organizations():
        await _adopt(store, org_id, guard)
    await store.note_adopted()


async def _adopt(store: ChainStore, org_id: OrgId, guard: Guard) -> None:
    since: datetime | None = None
    while True:
        guard()
        # The end of the chain is read first: if events get places meanwhile, these numbers are taken and
        # refused.
        last = await store.newest(org_id)
        await store.note_head(org_id, last)
        found = await store.unchained(org_id, BATCH, since=since)
        if found:
            logger.warning("chaining the audit events of an earlier version: %d in this step", len(found))
            await store.adopt(chained(last, [event_of(document) for document in found]))
        elif since is None:
            return
        # All events before this batch are chained: they are read again only at the end, in case of late ones.
        since = found[0]["at"] if found else None
