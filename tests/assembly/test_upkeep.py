"""The periodic work of a node: the sweeps of all resources, in their order."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

from netautod.assembly.parts.leases import named_leases
from netautod.assembly.upkeep import stale_backups_of, sweeping, unnoted_captures_of
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.settings.retention import RetentionSettings
from netautod.core.work.pauses import FixedPauses
from netautod.network.configs.settings import BackupSettings
from netautod.plugin_api.events import BackupStale
from netautod.plugin_host.observers import Observers
from netautod.store.client import Database
from tests.support.databases import stores_of


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


class Told:
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


async def test_the_look_for_stale_backups_keeps_to_the_pauses(indexed: Database) -> None:
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    for moment, name in enumerate(("paused", "other")):  # in one look, the paused one before the other
        backup = {"fresh_at": long_ago + timedelta(hours=moment), "stale_at": None}
        row = {"_id": name, "org_id": name, "name": name, "live": True, "backup": backup}
        await indexed.collection("devices").insert(row)
    stores, clock, told = stores_of(indexed), SystemClock(), Told("other")
    leasing = named_leases(database=indexed, node_id="n", clock=clock, settings=ExecutionSettings())
    async with leasing as leases:
        looks = stale_backups_of(
            stores=stores,
            clock=clock,
            unnoted=unnoted_captures_of(stores, clock),
            leases=leases,
            observers=cast(Observers, told),
            pauses=FixedPauses(frozenset({OrgId("paused")})),
            settings=BackupSettings(stale_check_seconds=0.05),
        )
        assert looks is not None
        async with looks, asyncio.timeout(60):
            await told.reached.wait()
    assert told.names == ["other"]
