"""Vouches once for what there was before devices were vouched for, so that an upgrade stops no backup."""

from collections.abc import Sequence

from netautod.core.errors import Duplicate
from netautod.devices.vouched import VOUCHED
from netautod.store.client import Database

MARKS = "upgrades"
MARK = "vouching"


async def vouch_once(database: Database, collections: Sequence[str]) -> None:
    """For every start, before anything else is written: the first one ever takes what lacks the field.

    The mark is written last. If we die before it, or if two nodes begin at the same moment, it is done again
    for what still lacks the field; whatever this release writes has it. After the mark only nodes of an
    earlier release leave it out, and nobody has vouched for those devices.
    """
    marks = database.collection(MARKS)
    is_done = await marks.find_one({"_id": MARK}) is not None
    for name in collections:
        await database.collection(name).update_many({VOUCHED: None}, {"$set": {VOUCHED: not is_done}})
    if not is_done:
        try:
            await marks.insert({"_id": MARK})
        except Duplicate:
            return  # the other node was first
