"""Paused organizations: the service starts no work for them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from netautod.core.identity.caller import OrgId


class Pauses(Protocol):
    """The paused organizations, checked before work starts; what runs already may finish."""

    def paused(self) -> Collection[OrgId]:
        """Return the organizations for which nothing may start now; it answers from memory."""
        ...


@dataclass(frozen=True)
class FixedPauses:
    """A set of pauses that does not change: for commands, which work whichever organizations are paused."""

    organizations: frozenset[OrgId] = frozenset()

    def paused(self) -> Collection[OrgId]:
        return self.organizations
