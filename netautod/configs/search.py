"""Searches the newest configurations of all live devices, as their readers see them: redacted.

Devices come in pages by name, so that memory does not grow with their number; of the matches only the asked
page is kept, the others are counted. Redacted texts are remembered by the text worker: the first search of a
fleet has to load and redact it, later ones only what has changed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netautod.configs.models import Match, NewestText
from netautod.configs.store import ConfigStore
from netautod.configs.texts.line_pattern import LineQuery
from netautod.configs.texts.store import ConfigTexts
from netautod.configs.workers.pool import TextWorker, Turn
from netautod.configs.workers.redacted_texts import Hits, Key
from netautod.core.errors import Unavailable
from netautod.core.identity import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.waiting import call_by_call, waits
from netautod.devices.models import DeviceFilter, DeviceName
from netautod.devices.service import DeviceService

SECONDS = 25.0  # proxies give up at 30 or 60
LEARNED_BYTES = 4 << 20  # of raw texts in one request to the worker: half a second of redacting at most


@dataclass(kw_only=True)
class _Found:
    page: Page
    total: int = 0
    matches: list[Match] = field(default_factory=list)

    def add(self, hits: Hits, devices: Sequence[tuple[DeviceName, NewestText]]) -> None:
        self.total += hits.total
        for position, number, line in hits.lines:
            device, newest = devices[position]
            self.matches.append(
                Match(
                    device_id=device.id,
                    device_name=device.name,
                    version=newest.version,
                    line_number=number,
                    line=line,
                )
            )


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
    async def find(
        self, org_id: OrgId, wanted: LineQuery, narrowed: DeviceFilter, page: Page
    ) -> PageOf[Match]:
        """Matching lines by device name and line number.

        InvalidInput for a pattern that RE2 refuses, Unavailable when it takes too long.
        """
        found = _Found(page=page)
        try:
            async with asyncio.timeout(self._seconds):
                async with self._worker.turn() as turn:  # a bad pattern is refused without any device, too
                    await turn.ask("prepare", wanted=wanted, keys=[])
                async for devices in self._devices.names_in_order(org_id, narrowed):
                    await self._look(org_id, wanted, devices, found)
        except TimeoutError as error:
            raise Unavailable(
                f"The search took longer than {self._seconds:g} s. Narrow it by device_type or site, or "
                "repeat it: what was read this time is remembered"
            ) from error
        return PageOf(items=found.matches, total=found.total, page=page)

    async def _look(
        self, org_id: OrgId, wanted: LineQuery, devices: Sequence[DeviceName], found: _Found
    ) -> None:
        newest = await self._store.newest_texts(org_id, [device.id for device in devices])
        stored = [(device, newest[device.id]) for device in devices if device.id in newest]
        keys = [(str(org_id), text.text_id) for _, text in stored]
        if not keys:
            return
        skip = max(0, found.page.offset - found.total)
        take = found.page.limit - len(found.matches)
        async with self._worker.turn() as turn:
            missing = set(await turn.ask("prepare", wanted=wanted, keys=keys))
            sizes = {key: text.size for key, (_, text) in zip(keys, stored, strict=True) if key in missing}
            await self._teach(org_id, turn, sizes)
            hits = await turn.ask("search", wanted=wanted, keys=keys, skip=skip, take=take)
        found.add(hits, stored)

    async def _teach(self, org_id: OrgId, turn: Turn, sizes: Mapping[Key, int]) -> None:
        """Sends the worker these texts, some at a time; `sizes` are those of the raw texts, in bytes."""
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
        packed = await self._texts.load_packed(org_id, [key[1] for key in keys])
        await turn.ask("learn", texts=[(key, packed[key[1]]) for key in keys if key[1] in packed])
