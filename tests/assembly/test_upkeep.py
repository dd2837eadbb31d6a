"""The periodic work of a node: the sweeps of all resources, in their order."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from netautod.assembly.data.leases import named_leases
from netautod.assembly.settings import Settings
from netautod.assembly.upkeep import stale_backup_checks, sweeping
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.settings.retention import RetentionSettings
from netautod.core.work.pauses import FixedPauses
from netautod.network.configs.backups.unrecorded_captures import UnnotedCaptures
from netautod.network.configs.settings import BackupSettings
from netautod.plugin_api.events import BackupStale
from netautod.store.client import Database
from tests.support.installation import bare_base


async def test_each_pass_does_the_sweeps_one_after_the_other(database: Database) -> None:
    swept: list[str] = []
    done = asyncio.Event()

    async def first() -> None:
        await asyncio.sleep(0.01)
        swept.append("first")

    async def second() -> None:
        swept.append("second")
        done.set()

    settings = replace(RetentionSettings(), interval_seconds=0.01)
    leasing = named_leases(database=database, node_id="n", clock=SystemClock(), settings=ExecutionSettings())
    async with (
        leasing as leases,
        sweeping((first, second), leases=leases, settings=settings),
        asyncio.timeout(60),
    ):
        await done.wait()
    assert swept[:2] == ["first", "second"]


class StaleObserver:
    """An observer that keeps the names of stale devices; `reached` when it hears of one of that name."""

    def __init__(self, until: str) -> None:
        self.names: list[str] = []
        self.reached = asyncio.Event()
        self._until = until

    def wanted(self, hook: str) -> bool:
        return True

    def backup_stale(self, event: BackupStale) -> None:
        self.names.append(event.device_name)
        if event.device_name == self._until:
            self.reached.set()


async def test_the_check_for_stale_backups_keeps_to_the_pauses(indexed: Database) -> None:
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    for moment, name in enumerate(("paused", "other")):  # found by one check, the paused one before the other
        backup = {"fresh_at": long_ago + timedelta(hours=moment), "stale_at": None}
        row = {"_id": name, "org_id": name, "name": name, "live": True, "backup": backup}
        await indexed.collection("devices").insert(row)
    observer = StaleObserver("other")
    leasing = named_leases(database=indexed, node_id="n", clock=SystemClock(), settings=ExecutionSettings())
    async with leasing as leases:
        base = bare_base(
            indexed,
            leases=leases,
            observers=observer,
            pauses=FixedPauses(frozenset({OrgId("paused")})),
            settings=Settings(backups=BackupSettings(stale_check_seconds=0.05)),
        )
        stores = base.stores
        unrecorded = UnnotedCaptures(store=stores.configs, states=stores.backup_states, clock=base.clock)
        checks = stale_backup_checks(base, unrecorded)
        assert checks is not None
        async with checks, asyncio.timeout(60):
            await observer.reached.wait()
    assert observer.names == ["other"]
