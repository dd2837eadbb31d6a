"""Which of several devices gets a name, when some are renamed and names are unique."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NameClaim:
    """A device that is to be called `wanted`; `current` is its present name, None for a new one."""

    id: str
    wanted: str
    current: str | None


def losers(claims: Sequence[NameClaim], foreign: Collection[str]) -> set[str]:
    """The ids of the devices that do not get their name.

    `foreign` names belong to devices that are not being named here. A device that has its name already keeps
    it; else the first in order gets it. A loser keeps its current name, which the device that was to get that
    one loses in turn.
    """
    got: dict[str, NameClaim] = {}
    lost: list[NameClaim] = []
    keepers = [claim for claim in claims if claim.wanted == claim.current]
    for claim in keepers:
        got[claim.wanted] = claim
    for claim in claims:
        if claim.wanted == claim.current:
            continue
        if claim.wanted in got or claim.wanted in foreign:
            lost.append(claim)
        else:
            got[claim.wanted] = claim
    out: set[str] = set()
    while lost:
        loser = lost.pop()
        out.add(loser.id)
        if loser.current is not None:
            evicted = got.get(loser.current)
            got[loser.current] = loser
            if evicted is not None:
                lost.append(evicted)
    return out
