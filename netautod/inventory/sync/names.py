"""Who of several devices gets a name, when some are renamed and names are unique."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NameClaim:
    """Somebody wants a name; `current` is the name that he keeps without it, None for one without one."""

    id: str
    wanted: str
    current: str | None


def losers(claims: Sequence[NameClaim], foreign: Collection[str]) -> set[str]:
    """The ids of those who do not get their name.

    `foreign` names stay with devices that are no part of this. Who has his name already keeps it; else the
    first in order gets it. Who loses keeps his current name, which then is lost to the one who was to get it.
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
