"""What becomes of a capture whose node dies, or loses the database, between any two of its writes."""

from datetime import timedelta
from typing import Any

import pytest

from netautod.core.errors import Unavailable
from netautod.network.configs.backups.store import BackupStates
from netautod.network.configs.backups.unrecorded_captures import UnnotedCaptures
from netautod.network.configs.store import ConfigStore
from netautod.testing import ios_config
from tests.network.configs.fleet import Fleet
from tests.support.clock import MovableClock

LIST = "/api/devices/with-backup-info"


class Dies:
    """A write that does not come any more, `first` times."""

    def __init__(self, real: Any, first: int = 1) -> None:
        self.real, self.first = real, first

    async def __call__(self, *given: Any, **named: Any) -> Any:
        if self.first:
            self.first -= 1
            raise Unavailable("the node has died")
        return await self.real(*given, **named)


async def status(fleet: Fleet) -> tuple[str, int | None]:
    [row] = (await fleet.api.get(LIST)).expect()["devices"]
    return row["last_backup_status"], row["config_version"]


async def looked(fleet: Fleet, *, seconds: float = 31.0) -> int:
    clock, stores = MovableClock(), fleet.installation.stores
    clock.move(seconds)
    return await UnnotedCaptures(store=stores.configs, states=stores.backup_states, clock=clock).note()


async def test_a_version_says_that_it_is_still_to_be_noted(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    with monkeypatch.context() as patched:
        patched.setattr(BackupStates, "record", Dies(fleet.installation.stores.backup_states.record))
        with pytest.raises(Unavailable):
            await fleet.take(device_id)
    assert await status(fleet) == ("never", 1)
    assert await looked(fleet, seconds=0) == 0  # it may be under way
    assert await looked(fleet) == 1
    assert await status(fleet) == ("success", 1)
    assert await looked(fleet) == 0
    [version] = await fleet.rows("configs")
    [device] = await fleet.rows("devices")
    assert device["backup"]["success_at"] == device["backup"]["fresh_at"] == version["created_at"]


async def test_a_mark_that_outlives_the_note_changes_nothing(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    device_id = await fleet.device(fleet.simulated())
    with monkeypatch.context() as patched:
        patched.setattr(ConfigStore, "noted", Dies(fleet.installation.stores.configs.noted))
        with pytest.raises(Unavailable):
            await fleet.take(device_id)
    now = fleet.installation.clock.now() + timedelta(seconds=1)
    await fleet.installation.stores.backup_states.record(
        fleet.work(), device_id, at=now, error="no", kind="lost"
    )
    assert await looked(fleet) == 1
    assert await status(fleet) == ("failed", 1)


async def test_a_capture_without_a_change_notes_its_success_first(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    await fleet.take(device_id)
    await fleet.installation.stores.backup_states.record(
        fleet.work(), device_id, at=fleet.installation.clock.now(), error="no", kind="lost"
    )
    assert await status(fleet) == ("failed", 1)
    with monkeypatch.context() as patched:
        patched.setattr(ConfigStore, "seen", Dies(fleet.installation.stores.configs.seen))
        with pytest.raises(Unavailable):
            await fleet.take(device_id)
    assert await status(fleet) == ("success", 1)
    switch.config = ios_config("sw1", community="new")
    await fleet.take(device_id)
    assert await status(fleet) == ("success", 2)
    assert await fleet.database.collection("configs").count({"unnoted": {"$ne": None}}) == 0
