"""The first sightings of rows of MAC and ARP tables, and the memory of those that have gone."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from netautod.core.loop.pace import Pace
from netautod.network.discovery.tables.kinds import FIRST_SEEN, LAST_SEEN
from netautod.network.discovery.tables.parts import Fields, Key, let_go

# A network of phones that change their addresses every day would fill any store.
MOST_GONE = 50_000


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference between a table and what it was before, by the keys of rows."""

    come: Sequence[Fields]
    vanished: Sequence[Fields]


async def compared(
    rows: Iterable[Fields], known: Iterable[Fields], key: Callable[[Fields], Key]
) -> Difference:
    """Write into the rows that are known when they were first seen, and return the difference."""
    pace = Pace()
    before: dict[Key, Fields] = {}
    for row in known:
        before[key(row)] = row
        await pace.breathe()
    come: list[Fields] = []
    present: set[Key] = set()
    for row in rows:
        place = key(row)
        present.add(place)
        old = before.get(place)
        if old is None:
            come.append(row)
        else:
            row[FIRST_SEEN] = old[FIRST_SEEN]
        await pace.breathe()
    vanished: list[Fields] = []
    while before:
        place, row = before.popitem()
        if place not in present:
            vanished.append(row)
        await pace.breathe()
    await let_go(present)
    return Difference(come=come, vanished=vanished)


async def history(
    difference: Difference,
    gone: Iterable[Fields],
    key: Callable[[Fields], Key],
    *,
    at: datetime,
    seen_at: datetime,
    gone_for: timedelta,
) -> list[Fields]:
    """Return what is remembered from now on, and write into new rows when they were first seen.

    `gone` is what was remembered so far; what vanishes now was there at `seen_at` for the last time.
    """
    pace = Pace()
    known: dict[Key, Fields] = {}
    for row in gone:
        if row[LAST_SEEN] > at - gone_for:
            known[key(row)] = row
        await pace.breathe()
    for row in difference.come:
        old = known.get(key(row))
        row[FIRST_SEEN] = at if old is None else old[FIRST_SEEN]
        await pace.breathe()
    for row in difference.come:  # behind the loop above: a row may be there twice
        known.pop(key(row), None)
        await pace.breathe()
    for row in difference.vanished:
        known[key(row)] = {**row, LAST_SEEN: seen_at}
        await pace.breathe()
    return await _newest(list(known.values()))


async def longest_gone(gone: Iterable[Fields]) -> datetime | None:
    """Return when the row that has been gone for longest was seen last."""
    return min((await _last_times(gone)), default=None)


async def _newest(gone: list[Fields]) -> list[Fields]:
    """Return MOST_GONE rows at most, without those that have been gone for longest."""
    if len(gone) <= MOST_GONE:
        return gone
    room = MOST_GONE
    kept: dict[datetime, int] = {}  # rows that went with one poll have one time
    for moment, count in sorted((await _last_times(gone)).items(), reverse=True):
        kept[moment] = min(count, room)
        room -= kept[moment]
    pace = Pace()
    newest: list[Fields] = []
    for row in gone:
        if kept[row[LAST_SEEN]] > 0:
            kept[row[LAST_SEEN]] -= 1
            newest.append(row)
        await pace.breathe()
    return newest


async def _last_times(gone: Iterable[Fields]) -> Counter[datetime]:
    pace = Pace()
    times: Counter[datetime] = Counter()
    for row in gone:
        times[row[LAST_SEEN]] += 1
        await pace.breathe()
    return times
