"""Finds out which tasks no run can act for, because their owner is disabled or deleted.

Whether a user is active is read from the database and kept for a second, as the permissions of callers are:
the routes that show tasks ask with every request.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from netautod.automation.tasks.owners.models import OWNER_DELETED, OWNER_DISABLED
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId

KEPT_SECONDS = 1.0
MOST_KEPT = 10_000


class Users(Protocol):
    """The users of the installation."""

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        """Return the user with the permissions of now; None if disabled or gone."""
        ...

    async def active_states(self, ids: Iterable[str]) -> Mapping[str, bool]:
        """Return whether each user is active, by id; a user who is gone is missing."""
        ...


class TaskOwners:
    """A reader of the owners of tasks. `forget` is called when this node changes a user."""

    def __init__(self, *, users: Users, clock: Clock) -> None:
        self._users = users
        self._clock = clock
        # By user: when the state was read, and the reason why tasks of the user are blocked.
        self._kept: OrderedDict[str, tuple[float, str | None]] = OrderedDict()
        self._changes = 0

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        return await self._users.active_caller(org_id, user_id)

    async def block_reasons(self, owner_ids: Iterable[str]) -> dict[str, str]:
        """Return why tasks of these owners are blocked, by owner; active owners are missing.

        One query for all that were not read within the last second.
        """
        wanted = set(owner_ids)
        oldest = self._clock.monotonic() - KEPT_SECONDS
        found = {
            one: self._kept[one][1] for one in wanted if one in self._kept and self._kept[one][0] > oldest
        }
        unknown = sorted(wanted - found.keys())
        if unknown:
            found |= await self._read(unknown)
        return {owner_id: reason for owner_id, reason in found.items() if reason is not None}

    def forget(self) -> None:
        """Forget all: the next call reads anew, and what a read under way finds is not kept."""
        self._changes += 1
        self._kept.clear()

    async def _read(self, owner_ids: Sequence[str]) -> dict[str, str | None]:
        began, changes = self._clock.monotonic(), self._changes
        states = await self._users.active_states(owner_ids)
        reasons = {one: _reason(states.get(one)) for one in owner_ids}
        if changes == self._changes:
            for one, reason in reasons.items():
                self._kept[one] = (began, reason)
                self._kept.move_to_end(one)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return reasons


def _reason(is_active: bool | None) -> str | None:
    if is_active is None:
        return OWNER_DELETED
    return None if is_active else OWNER_DISABLED
