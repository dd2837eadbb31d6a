"""The mark of an unfinished restore that an earlier version has left."""

from datetime import UTC, datetime

from netautod.automation.executions.running.node import lease_times
from netautod.automation.executions.settings import ExecutionSettings
from netautod.maintenance.archive.claim import claimed
from netautod.store.client import Database
from netautod.store.migrations.restore_marker import COLLECTION, MARK_ID, RestoreMarker

TAKEN_AT = datetime(2026, 11, 1, tzinfo=UTC)


async def test_one_of_before_there_were_claims_is_gone_on_with(database: Database) -> None:
    left = {"backup_id": "b", "taken_at": TAKEN_AT, "phase": "loading", "frames": 3}
    await database.collection(COLLECTION).insert({"_id": MARK_ID, **left})
    found = await RestoreMarker(database).begin("b", TAKEN_AT)
    assert (found.phase, found.frames) == ("loading", 3)
    async with claimed(database, "me", lease_times(ExecutionSettings())) as claim:
        await claim.progress(4)
        assert claim.mark.frames == 3
