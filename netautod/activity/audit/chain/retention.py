"""Deletes the beginnings of chains by age. The anchor that it leaves keeps the rest verifiable."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from netautod.activity.audit.chain.links import Link
from netautod.activity.audit.chain.store import ChainStore
from netautod.core.identity.caller import OrgId

BATCH = 1000


@dataclass(frozen=True, kw_only=True)
class Shortened:
    """The number of events that were deleted of a chain; `last` is the last of them."""

    last: Link
    deleted: int


class Retention:
    def __init__(self, store: ChainStore) -> None:
        self._store = store

    async def shorten(self, *, before: datetime, now: datetime) -> AsyncIterator[tuple[OrgId, Shortened]]:
        """Delete events older than `before`, only from the beginning of each chain.

        An event whose moment lies before that of an earlier one (clocks of nodes differ by milliseconds)
        stays as long as that one.
        """
        for org_id in await self._store.organizations():
            shortened = await self._shorten(org_id, before, now)
            if shortened is not None:
                yield org_id, shortened

    async def _shorten(self, org_id: OrgId, before: datetime, now: datetime) -> Shortened | None:
        # First delete up to the last anchor: a crash may have left some of it.
        deleted = await self._store.delete_anchored(org_id)
        last: Link | None = None
        while True:
            at = (await self._store.ends(org_id)).anchor
            oldest = await self._store.oldest(org_id, at.seq, BATCH)
            old = list(takewhile(lambda row: row[1] < before, oldest))
            if not old:
                break
            last = old[-1][0]
            # If the node dies here, the next sweep deletes them; for a verification they are gone already.
            await self._store.anchor(org_id, last, at=now)
            deleted += await self._store.delete_anchored(org_id)
        return None if last is None else Shortened(last=last, deleted=deleted)
