"""Names of devices in a synchronisation: which device gets one, and in what order devices are renamed.

Names are unique, and stay so after every single write: also in a chain of renames or a circle.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

LONGEST = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class NameClaim:
    """A device that is to be called `wanted`; `current` is its present name, None for a new one."""

    id: str
    wanted: str
    current: str | None


def losers(claims: Sequence[NameClaim], foreign: Collection[str]) -> set[str]:
    """Return the ids of the devices that do not get their name.

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The device gets `name`; a `parked` one gets its own name in a later step."""

    device_id: str
    name: str
    parked: bool = False


def waves(moves: Mapping[str, tuple[str, str]]) -> list[list[Step]]:
    """Return waves of steps. Steps of one wave can be done at once, those of the next need the names that it
    has freed.

    `moves`: (old name, new name) by device id; no two want one name. A circle is opened by parking one of its
    devices under a name that says so. If we die then, the next synchronisation gives it its name.
    """
    holder = {old: device_id for device_id, (old, _) in moves.items()}
    wanting = {new: device_id for device_id, (_, new) in moves.items()}
    waiting = {device_id: new for device_id, (_, new) in moves.items()}
    found: list[list[Step]] = []
    ready = [device_id for device_id, new in waiting.items() if new not in holder]
    while waiting:
        if not ready:
            freed = _open_circles(moves, holder, waiting, found)
            ready = [wanting[name] for name in freed]
        found.append([Step(device_id=device_id, name=waiting.pop(device_id)) for device_id in ready])
        freed = [moves[device_id][0] for device_id in ready if holder.get(moves[device_id][0]) == device_id]
        for name in freed:
            del holder[name]
        ready = [wanting[name] for name in freed if wanting.get(name) in waiting]
    return found


def _open_circles(
    moves: Mapping[str, tuple[str, str]],
    holder: dict[str, str],
    waiting: Mapping[str, str],
    found: list[list[Step]],
) -> list[str]:
    """Park one device of each circle; return the names that are free now, each wanted by the next in it."""
    parked: list[Step] = []
    seen: set[str] = set()
    for device_id in waiting:
        if device_id in seen:
            continue
        parked.append(Step(device_id=device_id, name=_parking(device_id, waiting[device_id]), parked=True))
        following = device_id
        while following not in seen:
            seen.add(following)
            following = holder[waiting[following]]
    found.append(parked)
    freed = [moves[step.device_id][0] for step in parked]
    for name in freed:
        del holder[name]
    return freed


def _parking(device_id: str, name: str) -> str:
    mark = f" (being renamed {device_id[:8]})"
    return name[: LONGEST - len(mark)] + mark
