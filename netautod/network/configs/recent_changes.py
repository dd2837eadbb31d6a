"""Recent changes: the versions that were captured last, and how many lines each has changed.

Lines are counted with the first request, and kept with the version: so captures do not pay for counts without
readers, and no text is read twice.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from netautod.core.clock import Clock
from netautod.core.errors import NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.loop.shared_reads import SharedReads
from netautod.network.configs.models import ChangedLines, Config, RecentChange
from netautod.network.configs.service import ConfigService
from netautod.network.configs.store import ConfigStore
from netautod.network.devices.service import DeviceService
from netautod.secrets.vault.errors import VaultError

LATEST = 10
# So many are looked at for them: devices may have been deleted since.
LOOKED_AT = 50


class RecentChanges:
    def __init__(
        self, *, store: ConfigStore, configs: ConfigService, devices: DeviceService, clock: Clock
    ) -> None:
        self._store = store
        self._configs = configs
        self._devices = devices
        self._counting: SharedReads[ChangedLines] = SharedReads(clock=clock, seconds=60.0, size=1000)

    async def of(self, org_id: OrgId) -> Sequence[RecentChange]:
        """Return the newest changes first, at most 10, of devices that exist. Imported versions are no
        news."""
        found = await self._store.latest(org_id, LOOKED_AT)
        names = await self._devices.live_names(org_id, list({config.device_id for config, _ in found}))
        shown = [(config, lines) for config, lines in found if config.device_id in names][:LATEST]
        counted = await asyncio.gather(*(self._lines(config, lines) for config, lines in shown))
        return [
            RecentChange(
                device_id=config.device_id,
                device_name=names[config.device_id],
                version=config.version,
                created_at=config.created_at,
                lines=lines,
            )
            for (config, _), lines in zip(shown, counted, strict=True)
        ]

    async def _lines(self, config: Config, kept: ChangedLines | None) -> ChangedLines | None:
        """Return the changed lines, counted once for all requests at the same time."""
        return kept or await self._counting.get(config.id, partial(self._count, config))

    async def _count(self, config: Config) -> ChangedLines | None:
        try:
            lines = await self._configs.changed_lines(config)
        except (NotFound, VaultError):
            return None  # a text is lost or damaged, which a backup may bring back
        await self._store.set_changed_lines(config, lines)
        return lines
