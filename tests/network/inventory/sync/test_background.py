"""Synchronisations that go on behind the answer of the request that began them."""

import asyncio
from typing import Any, cast

import pytest

from netautod.core.errors import Conflict, UpstreamFailed
from netautod.core.identity.caller import Caller, OrgId, system_caller
from netautod.network.inventory.sync.background import BackgroundSyncs
from netautod.network.inventory.sync.models import SyncOptions, SyncResult
from netautod.network.inventory.sync.service import SyncService

RESULT = SyncResult(added=1, updated=0, unchanged=0, failed=0, removed=0, errors=[], duration_ms=1)
CALLER = system_caller(OrgId("00000000-0000-4000-8000-000000000001"), "test")


class Gate:
    """A service whose synchronisations end when the test says so."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.begun = asyncio.Event()
        self.error: Exception | None = None
        self.ended: list[str] = []

    async def sync_source(self, caller: Caller, source_id: str, options: SyncOptions) -> SyncResult:
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.ended.append("stopped")
            raise
        if self.error is not None:
            raise self.error
        self.ended.append("done")
        return RESULT

    def syncs(self, patience: float) -> BackgroundSyncs:
        return BackgroundSyncs(cast(SyncService, cast(Any, self)), patience=patience)


async def test_what_is_over_soon_is_a_result_or_an_error() -> None:
    gate = Gate()
    gate.open.set()
    async with gate.syncs(patience=60) as syncs:
        assert await syncs.begin(CALLER, "a", SyncOptions()) == RESULT
        gate.error = Conflict("it runs already")
        with pytest.raises(Conflict):
            await syncs.begin(CALLER, "a", SyncOptions())


async def test_what_takes_long_goes_on_without_the_request(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    async with gate.syncs(patience=0) as syncs:
        assert await syncs.begin(CALLER, "a", SyncOptions()) is None
        gate.open.set()
        await syncs.wait()
        assert gate.ended == ["done"]
        gate.open.clear()
        gate.error = UpstreamFailed("no answer")
        assert await syncs.begin(CALLER, "b", SyncOptions()) is None
        gate.open.set()
        await syncs.wait()
    assert [line.getMessage() for line in caplog.records] == ["sync of b failed: no answer"]


async def test_the_end_of_the_service_stops_what_is_running() -> None:
    gate = Gate()
    async with gate.syncs(patience=0) as syncs:
        await syncs.begin(CALLER, "a", SyncOptions())
        await gate.begun.wait()
    assert gate.ended == ["stopped"]
