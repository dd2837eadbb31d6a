"""A bound that all requests of a node share: over it, one of the owner who holds most gives way."""

from collections.abc import Callable
from dataclasses import dataclass, field


class Share:
    """The part of the bound that one request holds; `leave` may be called more than once."""

    def __init__(self, shares: "FairShare", owner: str, give_way: Callable[[], None]) -> None:
        self._shares = shares
        self.owner = owner
        self.give_way = give_way
        self.size = 0

    def grow(self, size: int) -> None:
        """Hold so much more. If it is too much for the node, one share has to give way, perhaps this one."""
        self._shares.add(self, size)

    def settle(self) -> None:
        """Stop giving way, but count until it leaves."""
        self._shares.settle(self)

    def leave(self) -> None:
        self._shares.remove(self)


@dataclass
class _Owner:
    shares: set[Share] = field(default_factory=set)
    # Those that can give way, in the order in which they began.
    yielding: dict[Share, None] = field(default_factory=dict)
    held: int = 0


class FairShare:
    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._owners: dict[str, _Owner] = {}

    @property
    def total(self) -> int:
        """The sum that all hold."""
        return self._total

    def enter(self, owner: str, give_way: Callable[[], None]) -> Share:
        """Return a new share that holds nothing yet. `give_way` is called after the share has left."""
        share = Share(self, owner, give_way)
        found = self._owners.setdefault(owner, _Owner())
        found.shares.add(share)
        found.yielding[share] = None
        return share

    def add(self, share: Share, size: int) -> None:
        owner = self._owner_of(share)
        if owner is None:
            return
        share.size += size
        owner.held += size
        self._total += size
        while self._total > self._most and (loser := self._loser()) is not None:
            self.remove(loser)
            loser.give_way()

    def settle(self, share: Share) -> None:
        if (owner := self._owner_of(share)) is not None:
            owner.yielding.pop(share, None)

    def remove(self, share: Share) -> None:
        owner = self._owner_of(share)
        if owner is None:
            return
        owner.shares.discard(share)
        owner.yielding.pop(share, None)
        owner.held -= share.size
        self._total -= share.size
        if not owner.shares:
            del self._owners[share.owner]

    def _owner_of(self, share: Share) -> "_Owner | None":
        """Return the owner of a share; None if the share has left."""
        owner = self._owners.get(share.owner)
        return owner if owner is not None and share in owner.shares else None

    def _loser(self) -> Share | None:
        """Return the largest share of the owner who holds most; of equal ones the one that began first."""
        owners = [owner for owner in self._owners.values() if owner.yielding]
        if not owners:
            return None
        largest = max(owners, key=lambda owner: owner.held)
        return max(largest.yielding, key=lambda share: share.size)
