"""Searches the newest configurations of all live devices, as their readers see them: redacted.

Devices come in pages by name, so that memory does not grow with their number; of the matches only the asked
page is kept, the others are counted. Redacted texts are remembered by the text worker: the first search of a
fleet has to load and redact it, later ones only what has changed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.work.deadlines import call_by_call, waits
from netautod.network.configs.models import LineGroup, Match, NewestText
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.line_pattern import LineQuery
from netautod.network.configs.texts.store import ConfigTexts
from netautod.network.configs.workers.pool import TextWorker, Turn
from netautod.network.configs.workers.redacted_texts import Hit, Hits, Key, Same
from netautod.network.devices.models import DeviceFilter, DeviceName
from netautod.network.devices.service import DeviceService

SECONDS = 25.0  # proxies give up at 30 or 60
LEARNED_BYTES = 4 << 20  # of raw texts in one request to the worker: half a second of redacting at most


MOST_GROUPS = 20_000  # different lines that are counted; more are refused
FIRST = 10  # places that are shown of each


@dataclass(frozen=True, kw_only=True)
class LineSearch:
    """A search; `context` is the number of lines around each match, 0 to 10."""

    org_id: OrgId
    wanted: LineQuery
    narrowed: DeviceFilter
    context: int = 0


Stored = Sequence[tuple[DeviceName, NewestText]]


class _Collected(Protocol):
    """The collector of the matches of one batch of devices after the other."""

    async def add(self, turn: Turn, keys: Sequence[Key], devices: Stored) -> None: ...


class ConfigSearch:
    def __init__(
        self,
        *,
        devices: DeviceService,
        store: ConfigStore,
        texts: ConfigTexts,
        worker: TextWorker,
        seconds: float = SECONDS,
    ) -> None:
        self._devices = devices
        self._store = store
        self._texts = texts
        self._worker = worker
        self._seconds = seconds

    @waits(call_by_call)
    async def find(self, line_search: LineSearch, page: Page) -> PageOf[Match]:
        """Return matching lines by device name and line number.

        InvalidInput for a pattern that RE2 refuses, Unavailable when it takes too long.
        """
        found = _Matches(line_search, page)
        await self._through(line_search, found)
        return PageOf(items=found.matches, total=found.total, page=page)

    @waits(call_by_call)
    async def groups(self, line_search: LineSearch, page: Page) -> PageOf[LineGroup]:
        """Return equal lines together, those of the most devices first, then by line.

        InvalidInput also for more than 20,000 different lines.
        """
        found = _Groups(line_search)
        await self._through(line_search, found)
        ordered = sorted(found.groups.items(), key=lambda item: (-item[1].devices, item[0]))
        shown = ordered[page.offset : page.offset + page.limit]
        items = [LineGroup(line=line, devices=one.devices, matches=one.matches) for line, one in shown]
        return PageOf(items=items, total=len(ordered), page=page)

    async def _through(self, line_search: LineSearch, found: _Collected) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                async with self._worker.turn() as turn:  # a bad pattern is refused without any device, too
                    await turn.ask("prepare", wanted=line_search.wanted, keys=[])
                async for devices in self._devices.names_in_order(line_search.org_id, line_search.narrowed):
                    await self._look(line_search, devices, found)
        except TimeoutError as error:
            raise Unavailable(
                f"The search took longer than {self._seconds:g} s. Narrow it by device_type or site, or "
                "repeat it: what was read this time is remembered"
            ) from error

    async def _look(self, line_search: LineSearch, devices: Sequence[DeviceName], found: _Collected) -> None:
        org_id = line_search.org_id
        newest = await self._store.newest_texts(org_id, [device.id for device in devices])
        stored = [(device, newest[device.id]) for device in devices if device.id in newest]
        keys = [(str(org_id), device.id, text.text_id) for device, text in stored]
        if not keys:
            return
        async with self._worker.turn() as turn:
            missing = set(await turn.ask("prepare", wanted=line_search.wanted, keys=keys))
            sizes = {key: text.size for key, (_, text) in zip(keys, stored, strict=True) if key in missing}
            await self._teach(org_id, turn, sizes)
            await found.add(turn, keys, stored)

    async def _teach(self, org_id: OrgId, turn: Turn, sizes: Mapping[Key, int]) -> None:
        """Send the worker these texts, some at a time; `sizes` are those of the raw texts, in bytes."""
        some: list[Key] = []
        size = 0
        for key in sizes:
            some.append(key)
            size += sizes[key]
            if size >= LEARNED_BYTES:
                await self._teach_some(org_id, turn, some)
                some, size = [], 0
        if some:
            await self._teach_some(org_id, turn, some)

    async def _teach_some(self, org_id: OrgId, turn: Turn, keys: Sequence[Key]) -> None:
        packed = await self._texts.load_packed(org_id, [text_id for *_, text_id in keys])
        await turn.ask("learn", texts=[(key, packed[key[2]]) for key in keys if key[2] in packed])


class _Matches:
    def __init__(self, line_search: LineSearch, page: Page) -> None:
        self._line_search = line_search
        self._page = page
        self.total = 0
        self.matches: list[Match] = []

    async def add(self, turn: Turn, keys: Sequence[Key], devices: Stored) -> None:
        hits: Hits = await turn.ask(
            "search",
            wanted=self._line_search.wanted,
            keys=keys,
            skip=max(0, self._page.offset - self.total),
            take=self._page.limit - len(self.matches),
            context=self._line_search.context,
        )
        self.total += hits.total
        self.matches += [_match(hit, devices, self._line_search.context) for hit in hits.lines]


@dataclass(kw_only=True)
class _Group:
    devices: int = 0
    matches: list[Match] = field(default_factory=list)


class _Groups:
    def __init__(self, line_search: LineSearch) -> None:
        self._line_search = line_search
        self.groups: dict[str, _Group] = {}

    async def add(self, turn: Turn, keys: Sequence[Key], devices: Stored) -> None:
        found: dict[str, Same] | None = await turn.ask(
            "group",
            wanted=self._line_search.wanted,
            keys=keys,
            first=FIRST,
            most=MOST_GROUPS,
            context=self._line_search.context,
        )
        for line, same in (found or {}).items():
            group = self.groups.setdefault(line, _Group())
            group.devices += same.texts
            left = FIRST - len(group.matches)
            group.matches += [_match(hit, devices, self._line_search.context) for hit in same.first[:left]]
        if found is None or len(self.groups) > MOST_GROUPS:
            raise InvalidInput(f"group: more than {MOST_GROUPS:,} different lines match; narrow the search")


def _match(hit: Hit, devices: Stored, context: int) -> Match:
    device, newest = devices[hit.position]
    return Match(
        device_id=device.id,
        device_name=device.name,
        version=newest.version,
        line_number=hit.number,
        line=hit.line,
        before=hit.before if context else None,
        after=hit.after if context else None,
    )
