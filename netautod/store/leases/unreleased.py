"""Rows that this node may have taken and does not use: given back as soon as the database answers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from netautod.store.client import Collection


@dataclass(kw_only=True)
class UnreleasedClaims:
    """The claims to give back, each by its token, so that what another one has taken since stays theirs.

    They are given back with every heartbeat for `seconds`, the length of a lease: a claim may arrive after
    the first time, and one that arrives later than that runs out by itself.
    """

    collection: Collection
    monotonic: Callable[[], float]
    seconds: float
    _rows: dict[str, tuple[str, float]] = field(default_factory=dict)

    def note(self, row_id: str, token: str) -> None:
        self._rows[token] = (row_id, self.monotonic() + self.seconds)

    async def give_back(self) -> None:
        """Give back all claims in one round trip, if there are any."""
        fences = [{"_id": row_id, "claim": token} for token, (row_id, _) in self._rows.items()]
        await self.collection.delete_batch(fences)
        now = self.monotonic()
        self._rows = {token: row for token, row in self._rows.items() if row[1] > now}
