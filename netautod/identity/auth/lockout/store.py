"""Counters of failed logins in MongoDB, each change one atomic update that any node may make.

Three kinds of documents: one per client address, with its failures of the window and the end of its lockout;
one per account name, with the number of strangers' failures and the next free slot for a try of theirs; and
those of guessed one-time codes, which are in `codes.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.core.errors import Duplicate
from netautod.store.client import Database, Document
from netautod.store.clock.alignment import wait_no_longer
from netautod.store.expressions import milliseconds
from netautod.store.indexes import Index

COLLECTION = "login_failures"
INDEXES = (
    Index(collection=COLLECTION, keys=(("expires_at", 1),), expire_seconds=0),
    Index(collection=COLLECTION, keys=(("failures.account", 1),)),
)
Stage = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class AddressState:
    """The state of an address. `counted`: this failure was counted, and not refused by an earlier lockout."""

    failures: int
    locked_until: datetime | None
    counted: bool


@dataclass(frozen=True, kw_only=True)
class AccountState:
    failures: int
    next_at: datetime


class FailureCounters:
    """The counters: `limit` failures within `window` lock an address for `lockout`."""

    def __init__(self, database: Database, *, limit: int, window: timedelta, lockout: timedelta) -> None:
        self._counters = database.collection(COLLECTION)
        self._limit = limit
        self._window = window
        self._lockout = lockout

    async def locked_until(self, address: str, now: datetime) -> datetime | None:
        found = await self._counters.find_one({"_id": _address(address)}, fields={"locked_until": 1})
        until: datetime | None = found["locked_until"] if found else None
        return until if until is not None and until > now else None

    async def add_failure(self, address: str, account: str, now: datetime) -> AddressState:
        """Count one failure for the address, unless it is locked."""
        mark = uuid4().hex  # distinguishes our failure from one that another try has added
        found = await self._upsert(_address(address), self._failure_stages(account, now, mark))
        return AddressState(
            failures=len(found["failures"]),
            locked_until=found["locked_until"],
            counted=found["last_counted"] == mark,
        )

    async def add_stranger_failure(self, account: str, now: datetime) -> int:
        """Count one failure for the account; return how many there were before it."""
        found = await self._upsert(_account(account), self._account_failure_stages(now))
        before: int = found["count"] - 1
        return before

    async def clear_account(self, address: str, account: str, now: datetime) -> datetime | None:
        """Drop the address's failures at that account after a right password.

        Returns the end of the address's lockout if there is one.
        """
        others = _kept({"$ne": ["$$failure.account", account]})
        locked = {"$gt": ["$locked_until", now]}
        stage = {"$set": {"failures": {"$cond": [locked, "$failures", others]}}}
        found = await self._counters.find_and_update({"_id": _address(address)}, [stage])
        until: datetime | None = found["locked_until"] if found else None
        return until if until is not None and until > now else None

    async def clear_strangers(self, account: str) -> None:
        """Clear the strangers' failures after a stranger's address has turned out to be the user's."""
        await self._counters.delete({"_id": _account(account)})

    async def account(self, account: str, now: datetime) -> AccountState | None:
        found = await self._counters.find_one({"_id": _account(account), "expires_at": {"$gt": now}})
        return AccountState(failures=found["count"], next_at=found["next_at"]) if found else None

    async def take_slot(
        self, account: str, now: datetime, *, gap: timedelta, patience: timedelta
    ) -> datetime | None:
        """Reserve the account's next try, `gap` after the one before; None if it has no document any more.

        A slot later than now + `patience` is returned but not reserved.
        """
        start = {"$max": ["$next_at", now]}
        taken = {
            "$cond": [{"$gt": [start, now + patience]}, "$next_at", {"$add": [start, milliseconds(gap)]}]
        }
        found = await self._counters.find_and_update(
            {"_id": _account(account)}, [{"$set": {"next_at": taken}}], before=True
        )
        return max(found["next_at"], now) if found else None

    async def forget_account(self, account: str) -> None:
        """Clear the account everywhere, and the lockouts of addresses that failed at it."""
        await self._counters.delete({"_id": _account(account)})
        await self._counters.update_many(
            {"failures.account": account},
            {"$pull": {"failures": {"account": account}}, "$set": {"locked_until": None}},
        )

    async def align(self, longest_slot: timedelta) -> None:
        """Let no address be locked out for longer than a lockout, and no account wait for a slot for longer
        than `longest_slot`: the database's clock was set back.
        """
        await wait_no_longer(self._counters, "locked_until", self._lockout)
        await wait_no_longer(self._counters, "next_at", longest_slot)

    def _failure_stages(self, account: str, now: datetime, mark: str) -> list[Stage]:
        over = {"$and": [{"$ne": ["$locked_until", None]}, {"$lte": ["$locked_until", now]}]}
        recent = _kept({"$gt": ["$$failure.at", now - self._window]})
        added = {"$concatArrays": ["$failures", [{"account": account, "at": now}]]}
        locked = {"$ne": ["$locked_until", None]}
        full = {"$gte": [{"$size": "$failures"}, self._limit]}
        until = now + self._lockout
        return [
            {
                "$set": {
                    "failures": {"$ifNull": ["$failures", []]},
                    "locked_until": {"$ifNull": ["$locked_until", None]},
                    "last_counted": {"$ifNull": ["$last_counted", None]},
                }
            },
            # A lockout that is over starts a new count; while it lasts nothing changes.
            {
                "$set": {
                    "failures": {"$cond": [over, [], {"$cond": [locked, "$failures", recent]}]},
                    "locked_until": {"$cond": [over, None, "$locked_until"]},
                }
            },
            {
                "$set": {
                    "failures": {"$cond": [locked, "$failures", added]},
                    "last_counted": {"$cond": [locked, "$last_counted", mark]},
                }
            },
            {"$set": {"locked_until": {"$cond": [locked, "$locked_until", {"$cond": [full, until, None]}]}}},
            {"$set": {"expires_at": {"$max": ["$locked_until", now + self._window]}}},
        ]

    def _account_failure_stages(self, now: datetime) -> list[Stage]:
        alive = {"$gt": ["$expires_at", now]}  # the TTL monitor may be late
        return [
            {
                "$set": {
                    "count": {"$cond": [alive, {"$add": ["$count", 1]}, 1]},
                    "next_at": {"$ifNull": ["$next_at", now]},
                    "expires_at": now + self._window,
                }
            }
        ]

    async def _upsert(self, key: str, stages: Sequence[Stage]) -> Document:
        while True:
            try:
                found = await self._counters.find_and_update({"_id": key}, stages, upsert=True)
            except Duplicate:
                continue  # two first failures at once: the other one has created the document
            if found is not None:
                return found


def _kept(condition: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"$filter": {"input": "$failures", "as": "failure", "cond": condition}}


def _address(address: str) -> str:
    return f"address:{address}"


def _account(account: str) -> str:
    return f"account:{account}"
