"""Tries at the one-time codes of an account, counted before each: a code has six digits only.

A client that gets as far as a code knows the password already. Ten wrong codes in a row end the tries for the
length of a lockout, and each wrong one after that for twice as long, up to a day: some thousand guesses a
year at a million codes. Strangers and the addresses from which the account logs in are counted apart, so that
a thief of the password cannot use up the tries of its owner.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from netautod.core.errors import Duplicate
from netautod.store.client import Database, Document
from netautod.store.clock.alignment import wait_no_longer
from netautod.store.expressions import milliseconds

COLLECTION = "login_failures"
FREE_TRIES = 10
LONGEST = timedelta(days=1)
FORGOTTEN_AFTER = timedelta(days=30)
MOST_DOUBLINGS = 20


class CodeTries:
    """The counted tries. `lockout`: the length of the first refusal (the setting auth.lockout_seconds)."""

    def __init__(self, database: Database, *, lockout: timedelta) -> None:
        self._tries = database.collection(COLLECTION)
        self._lockout = min(lockout, LONGEST)

    async def take(self, account: str, *, stranger: bool, now: datetime) -> datetime | None:
        """Take a try and return None; if none was left, return when the refusal ends.

        Concurrent calls take no more tries than there are.
        """
        key, stages = _key(account, stranger), self._stages(now)
        while True:
            try:
                before = await self._tries.find_and_update({"_id": key}, stages, upsert=True, before=True)
            except Duplicate:
                continue  # two first tries at once: the other one has created the document
            return _held(before, now)

    async def clear(self, account: str, *, stranger: bool) -> None:
        await self._tries.delete({"_id": _key(account, stranger)})

    async def align(self) -> None:
        """Let no refusal last for longer than the longest one: the database's clock was set back."""
        await wait_no_longer(self._tries, "held_until", LONGEST)

    def _stages(self, now: datetime) -> list[Mapping[str, Any]]:
        free = {"$lte": [{"$ifNull": ["$held_until", now]}, now]}
        tries = {"$ifNull": ["$tries", 0]}
        over = {"$min": [{"$subtract": ["$tries", FREE_TRIES]}, MOST_DOUBLINGS]}
        held_ms = {"$multiply": [milliseconds(self._lockout), {"$pow": [2, over]}]}
        until = {"$add": [now, {"$toLong": {"$min": [held_ms, milliseconds(LONGEST)]}}]}
        held = {"$cond": [{"$gte": ["$tries", FREE_TRIES]}, until, None]}
        return [
            {"$set": {"free": free, "tries": tries}},
            {"$set": {"tries": {"$cond": ["$free", {"$add": ["$tries", 1]}, "$tries"]}}},
            {"$set": {"held_until": {"$cond": ["$free", held, "$held_until"]}}},
            {"$set": {"expires_at": now + FORGOTTEN_AFTER}},
        ]


def _held(before: Document | None, now: datetime) -> datetime | None:
    until: datetime | None = before["held_until"] if before else None
    return until if until is not None and until > now else None


def _key(account: str, stranger: bool) -> str:
    return f"codes:{account}:{'strangers' if stranger else 'own'}"
