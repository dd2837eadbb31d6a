"""Captures become versions: what counts as a change, what never becomes one, and what is stored."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.core.errors import DiskFull, Duplicate
from netautod.core.work.context import Work
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.store import ConfigTexts, TextKeys, measure
from netautod.store.client import Database
from netautod.testing import Faults, ios_config
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.network.configs.fleet import PASSWORD, Fleet, open_fleet
from tests.support.disk import Disk
from tests.support.serving import Serve


async def test_only_what_says_something_new_makes_a_version(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    first = await fleet.take(device_id)
    switch.config = ios_config("sw1", changed_at="09:00:00 UTC Sun Nov 22 2026 by ann")  # noise
    second = await fleet.take(device_id)
    switch.config = ios_config("sw1", community="an0ther")
    third = await fleet.take(device_id)
    switch.config = ios_config("sw1")
    fourth = await fleet.take(device_id)
    found = [(taken.changed, taken.config.version) for taken in (first, second, third, fourth)]
    assert found == [(True, 1), (False, 1), (True, 2), (True, 3)]
    assert second.config.id == first.config.id
    assert second.config.last_seen_at > first.config.last_seen_at
    assert second.config.created_at == first.config.created_at
    assert fourth.config.config_hash == first.config.config_hash != third.config.config_hash
    assert len(first.config.config_hash) == 64
    assert third.credential_id == fleet.credential_id


async def test_equal_texts_are_stored_once_and_the_database_shows_nothing(
    fleet: Fleet, mongo_uri: str
) -> None:
    text = ios_config("twin", community="c0mmunity-canary").replace("ntp clock-period 36028797\n", "")
    for name in ("a", "b"):
        captured = await fleet.take(await fleet.device(fleet.simulated(name, config=text)))
        assert captured.config.size == len(text)
    named = {row["text_id"] for row in await fleet.rows("configs")}
    assert (len(await fleet.rows("configs")), len(named)) == (2, 1)
    stored = await fleet.rows("config_texts", _id=named.pop())
    assert len(stored) == 1
    assert len(stored[0]["text"]["data"]) < len(text) / 5
    dump = await fleet.raw_dump(mongo_uri)
    for canary in ("c0mmunity-canary", "GigabitEthernet", "hostname", PASSWORD):
        assert canary.encode() not in dump


@pytest.mark.parametrize(
    ("faults", "kind"),
    [
        pytest.param(Faults(truncate_after=900), "incomplete", id="the end is missing"),
        pytest.param(Faults(disconnect_after=900), "lost", id="the connection drops"),
        pytest.param(Faults(refuse_logins=True), "auth", id="the login is refused"),
        pytest.param(Faults(hang_up_on_login=True), "auth", id="the device hangs up on the login"),
    ],
)
async def test_a_failed_capture_never_becomes_a_version(fleet: Fleet, faults: Faults, kind: str) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    await fleet.take(device_id)
    switch.faults = faults
    with pytest.raises(DeviceFailed) as caught:
        await fleet.take(device_id)
    assert caught.value.kind == kind
    assert caught.value.credential_id == fleet.credential_id
    assert len(await fleet.rows("configs")) == 1


async def test_half_a_config_is_believed_only_if_a_second_reading_agrees(fleet: Fleet) -> None:
    switch = fleet.simulated(config=ios_config("sw1", interfaces=48))
    device_id = await fleet.device(switch)
    await fleet.take(device_id)
    switch.config = ios_config("sw1", interfaces=1)
    believed = await fleet.take(device_id)
    assert believed.config.version == 2
    assert any("shrank" in note for note in believed.notes)
    assert switch.commands.count("show running-config") == 3


async def test_two_small_readings_that_differ_are_not_believed(fleet: Fleet) -> None:
    switch = fleet.simulated(config=ios_config("sw1", interfaces=48))
    device_id = await fleet.device(switch)
    await fleet.take(device_id)
    switch.config, switch.latency = ios_config("sw1", interfaces=1), 0.05
    reading = asyncio.create_task(fleet.take(device_id))
    await switch.wait_until(lambda device: device.commands.count("show running-config") == 3)
    switch.config = ios_config("sw1", interfaces=2)
    with pytest.raises(DeviceFailed, match="neither is believed") as caught:
        await reading
    assert (caught.value.kind, caught.value.final) == ("incomplete", False)


@pytest.mark.parametrize(
    "bulk", [pytest.param(False, id="each by itself"), pytest.param(True, id="in batches")]
)
async def test_captures_that_race_number_their_versions_without_a_gap(fleet: Fleet, bulk: bool) -> None:
    """Without the lease of the device, as if it had been lost: only the unique index keeps order."""
    captured = await fleet.take(await fleet.device(fleet.simulated()))
    opened: Any = _Opened(captured.config.device_id, fleet.work(bulk=bulk))
    texts = ConfigTexts(fleet.database, vault=fleet.installation.vault, clock=SystemClock())
    keys = await texts.keys(fleet.org_id)

    async def keep(number: int) -> tuple[int, bool]:
        reading = measure(f"hostname sw{number % 4}\n", opened.session.platform, keys, opened.id)
        config, changed = await fleet.configs.captures._keep(opened, reading, captured.config, "task")
        return config.version, changed

    found = await asyncio.gather(*(keep(number) for number in range(8)))
    versions = sorted(version for version, changed in found if changed)
    assert versions == list(range(2, 2 + len(versions)))
    assert len(await fleet.rows("configs")) == 1 + len(versions)
    with pytest.raises(Duplicate):
        await ConfigStore(fleet.database).insert(replace(captured.config, id="another"), fleet.work())


class _Opened:
    """As much of an open device as storing needs."""

    def __init__(self, device_id: str, work: Work) -> None:
        self.work = work
        self.device = self
        self.session = self
        self.id, self.name = device_id, "sw1"
        self.device_type = "cisco_ios"
        self.platform = PlatformRegistry().get("cisco_ios")

    def check(self) -> None:
        """Its lease is never lost."""


async def test_a_new_rule_for_noise_is_no_change_of_the_device(fleet: Fleet) -> None:
    """As after an upgrade: the hash is that of another release, and what is noise has moved since."""
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    first = await fleet.take(device_id)
    stale = {"$set": {"config_hash": "0" * 64}}
    await fleet.database.collection("configs").update({"_id": first.config.id}, stale)
    switch.config = ios_config("sw1", changed_at="09:00:00 UTC Sun Nov 22 2026 by ann")
    again = await fleet.take(device_id)
    assert switch.commands.count("show running-config") == 2  # nothing moves that must be learned
    assert (again.changed, again.config.version) == (False, 1)
    assert (await fleet.rows("configs"))[0]["config_hash"] == first.config.config_hash


async def test_a_text_that_was_lost_does_not_keep_the_next_one_from_being_stored(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    await fleet.take(device_id)
    await fleet.database.collection("config_texts").delete_many({})
    switch.config = ios_config("sw1", community="new")
    assert (await fleet.take(device_id)).config.version == 2


def test_the_hash_depends_on_the_organization() -> None:
    platform = PlatformRegistry().get("cisco_ios")
    ours, theirs = (
        measure("hostname a\n", platform, TextKeys(text=key, normalised=key, secret=key), "d")
        for key in (b"1" * 32, b"2" * 32)
    )
    assert ours.config_hash != theirs.config_hash
    assert ours.text_id != theirs.text_id
    assert "hostname" not in repr(ours)


async def test_a_full_disk_stops_captures_before_the_device_is_asked(
    indexed: Database, serve: Serve, tmp_path: Path
) -> None:
    disk = Disk(free=900)
    async with disk.under(indexed) as room, open_fleet(indexed, serve, tmp_path) as fleet:
        switch = fleet.simulated()
        device_id = await fleet.device(switch)
        disk.free = 100
        await room.look()
        with pytest.raises(DiskFull, match="The disk of /data is full: 100 of 1000 MiB free"):
            await fleet.take(device_id)
        assert switch.login_attempts == []
        disk.free = 900
        await room.look()
        assert (await fleet.take(device_id)).config.version == 1
