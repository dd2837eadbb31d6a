"""A migration as a value, and how it goes through a large collection."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from netautod.core.errors import NetautodError
from netautod.core.work.guard import Guard
from netautod.store.client import Change, Collection, Filter

PAGE = 1000

Step = Callable[[Guard], Awaitable[None]]
"""A step of a migration. Idempotent: a node that takes over begins it anew, and what was done stays good. It
calls the guard before each page."""


class NewerDatabase(NetautodError):
    """A newer version has changed the data: this one would misread or spoil it. One line for the operator."""


class MigrationFailed(NetautodError):
    """Raised for a migration that stays undone until an operator puts the data right; one line for the
    operator.
    """


@dataclass(frozen=True, kw_only=True)
class Migration:
    """A migration. `number` and `name` never change once they are released, and no number is left out.

    `since` is the first version of the program that knows it, for those that do not.
    `apply` is done once, before anything is served; with `in_background` while the service works. `catch_up`
    is done at every start from then on, for what a node of the version before has written beside this one.
    `ready`, only with `in_background`, is called before each start; while it returns false, the migration
    waits.
    """

    number: int
    since: str
    name: str
    apply: Step
    catch_up: Step | None = None
    in_background: bool = False
    ready: Callable[[], Awaitable[bool]] | None = None


async def in_pages(
    collection: Collection, where: Filter, change: Change, *, guard: Guard, page: int = PAGE
) -> int:
    """Change all documents that match, a page at a time in the order of their ids; return how many matched.

    `where` must not match any more what is changed. One walk by `_id` needs no index of its own.
    """
    changed, after = 0, None
    while True:
        guard()
        beyond: Filter = {} if after is None else {"_id": {"$gt": after}}
        found = await collection.find({**where, **beyond}, fields={"_id": 1}, sort=[("_id", 1)], limit=page)
        if not found:
            return changed
        ids = [document["_id"] for document in found]
        changed += await collection.update_many({**where, "_id": {"$in": ids}}, change)
        after = ids[-1]
