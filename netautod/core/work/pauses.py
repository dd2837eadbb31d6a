"""Which organizations are paused: the service begins no work for them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from netautod.core.identity.caller import OrgId


class Pauses(Protocol):
    """What is asked before work begins; what runs already is allowed to finish."""

    def paused(self) -> Collection[OrgId]:
        """The organizations for which nothing may begin now; answers from memory."""
        ...


@dataclass(frozen=True)
class FixedPauses:
    """Pauses that do not change; a command begins its work whichever organizations are paused."""

    organizations: frozenset[OrgId] = frozenset()

    def paused(self) -> Collection[OrgId]:
        return self.organizations
