"""The registries through which an owner reaches what points at its records: references and followers.

An owner (credentials, sites, devices) offers them, the composition root fills them, so that no resource
imports another one against the direction of the dependencies.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from netautod.core.errors import Conflict
from netautod.core.identity.caller import OrgId

SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Uses:
    """The users of one kind that a record has: how many, and the names of the first ones."""

    kind: str
    names: Sequence[str]
    count: int

    def __str__(self) -> str:
        more = self.count - len(self.names)
        return f"{self.kind} {', '.join(self.names)}" + (f" and {more} more" if more > 0 else "")


Finder = Callable[[OrgId, str, int], Awaitable[Uses]]
Follower = Callable[[OrgId, str], Awaitable[None]]


class References:
    """The users of the records of one owner. `resource` is its name in texts: `Credential`."""

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self._finders: list[Finder] = []

    def register(self, find: Finder) -> None:
        """Add a finder: `find(org_id, record_id, limit)` returns the users of one kind with at most `limit`
        names.
        """
        self._finders.append(find)

    async def users(self, org_id: OrgId, record_id: str) -> list[Uses]:
        found = [await find(org_id, record_id, SHOWN) for find in self._finders]
        return [uses for uses in found if uses.count]

    async def refuse_if_used(self, org_id: OrgId, record_id: str) -> None:
        """Raise Conflict with a sentence that names a few of the users."""
        users = await self.users(org_id, record_id)
        if users:
            raise Conflict(f"{self.resource} is in use by {'; '.join(str(uses) for uses in users)}")


class Followers:
    """The callbacks that follow up on a change of an owner's record, such as cleaning up after its deletion.

    A follower is idempotent: after a crash the owner notifies again, from what it noted before the change.
    """

    def __init__(self) -> None:
        self._followers: list[Follower] = []

    def register(self, follow: Follower) -> None:
        self._followers.append(follow)

    async def notify(self, org_id: OrgId, record_id: str) -> None:
        for follow in self._followers:
            await follow(org_id, record_id)
