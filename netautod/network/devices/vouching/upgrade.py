"""Vouches once for what there was before devices were vouched for, so that an upgrade stops no backup."""

from collections.abc import Sequence

from netautod.core.work.guard import Guard
from netautod.network.devices.records.vouched import VOUCHED
from netautod.store.client import Database
from netautod.store.migrations.model import in_pages

# Where versions without numbered migrations noted that they had done it.
MARKS = "upgrades"
MARK = "vouching"


async def vouch_for_all(database: Database, collections: Sequence[str], guard: Guard) -> None:
    """Vouch for what was there before this release: what it writes has the field."""
    is_done = await database.collection(MARKS).find_one({"_id": MARK}) is not None
    for name in collections:
        change = {"$set": {VOUCHED: not is_done}}
        await in_pages(database.collection(name), {VOUCHED: None}, change, guard=guard)


async def note_unvouched(database: Database, collections: Sequence[str], guard: Guard) -> None:
    """Mark as not vouched for what lacks the field: only nodes of an earlier release leave it out from then
    on.
    """
    for name in collections:
        await in_pages(database.collection(name), {VOUCHED: None}, {"$set": {VOUCHED: False}}, guard=guard)
