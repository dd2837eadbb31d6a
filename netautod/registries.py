"""The registries through which an owner reaches those that point at its records: users and followers.

An owner (credentials, sites, devices) offers them, the composition root fills them, so that no resource
imports another one against the direction of the dependencies.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from netautod.errors import Conflict, NotFound
from netautod.store.client import Database, OrgId

SHOWN = 3
# A record whose removal has begun is invisible to every read of its owner.
VISIBLE = {"removal": None}


@dataclass(frozen=True, kw_only=True)
class Uses:
    """Who of one kind uses a record: `count` of them, the first of them by name."""

    kind: str
    names: Sequence[str]
    count: int

    def __str__(self) -> str:
        more = self.count - len(self.names)
        return f"{self.kind} {', '.join(self.names)}" + (f" and {more} more" if more > 0 else "")


Finder = Callable[[OrgId, str, int], Awaitable[Uses]]
Follower = Callable[[OrgId, str], Awaitable[None]]


class References:
    """Who uses the records of one owner. `resource` is its name in texts: `Credential`."""

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self._finders: list[Finder] = []

    def register(self, find: Finder) -> None:
        """`find(org_id, record_id, limit)` answers the users of one kind with at most `limit` names."""
        self._finders.append(find)

    async def users(self, org_id: OrgId, record_id: str) -> list[Uses]:
        found = [await find(org_id, record_id, SHOWN) for find in self._finders]
        return [uses for uses in found if uses.count]

    async def refuse_if_used(self, org_id: OrgId, record_id: str) -> None:
        """Raises Conflict with a sentence that names a few of the users."""
        users = await self.users(org_id, record_id)
        if users:
            raise Conflict(f"{self.resource} is in use by {'; '.join(str(uses) for uses in users)}")


class Followers:
    """Who follows up on a change of an owner's record, such as cleaning up after its deletion.

    A follower is idempotent: after a crash the owner notifies again, from what it noted before the change.
    """

    def __init__(self) -> None:
        self._followers: list[Follower] = []

    def register(self, follow: Follower) -> None:
        self._followers.append(follow)

    async def notify(self, org_id: OrgId, record_id: str) -> None:
        for follow in self._followers:
            await follow(org_id, record_id)


class Removal:
    """Removes records of one collection that nobody uses, safe against users that appear meanwhile.

    First the record is hidden, then its users are looked for: whoever names a record checks that it is
    visible before and after its own write, so one of the two sides always notices the other. If we die in
    between, the record stays hidden until `resume` decides.
    """

    def __init__(self, database: Database, collection: str, references: References) -> None:
        self._all = database.collection(collection)
        self._records = database.scoped(collection)
        self._references = references

    async def remove(self, org_id: OrgId, record_id: str) -> None:
        """Raises NotFound, or Conflict that names the users."""
        await self._references.refuse_if_used(org_id, record_id)
        await self._hide_and_remove(org_id, record_id)

    async def resume(self) -> None:
        """Called at start: finishes or takes back the removals that a crash interrupted."""
        for row in await self._all.find({"removal": {"$gt": ""}}, fields={"org_id": 1}):
            # A user, another node that is faster: both are fine, and settled.
            with suppress(Conflict, NotFound):
                await self._hide_and_remove(OrgId(row["org_id"]), str(row["_id"]))

    async def _hide_and_remove(self, org_id: OrgId, record_id: str) -> None:
        # Each attempt has its own token: one that takes over invalidates what an older one decided.
        token = uuid4().hex
        if not await self._records.update(org_id, {"_id": record_id}, {"$set": {"removal": token}}):
            raise NotFound(f"{self._references.resource} not found")
        mine = {"_id": record_id, "removal": token}
        try:
            await self._references.refuse_if_used(org_id, record_id)
        except Conflict:
            await self._records.update(org_id, mine, {"$unset": {"removal": ""}})
            raise
        removed = await self._records.delete(org_id, mine)
        if not removed and await self._records.find_one(org_id, {"_id": record_id}) is not None:
            raise Conflict(f"{self._references.resource} is being deleted by another request")
