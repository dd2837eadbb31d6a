"""Stale backups: told once per device until the next good capture, whatever dies in between."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from netautod.core.identity.caller import OrgId
from netautod.core.work.pauses import FixedPauses
from netautod.network.configs.backups import stale
from netautod.network.configs.backups.stale import StaleBackups
from netautod.network.configs.backups.stale_store import StaleWatch
from netautod.network.configs.backups.unrecorded_captures import UnnotedCaptures
from netautod.network.devices.records.queries import COLLECTION
from netautod.plugin_api.events import BackupStale
from netautod.transport.ssh.failures import DeviceFailed
from tests.network.configs.fleet import Fleet
from tests.support.clock import MovableClock
from tests.support.profiler import profiled

HOURS = 26.0


class Looks:
    """The look of a node, with a clock that the test moves, and the devices that it reported."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.clock = MovableClock()
        self.told = fleet.told.stale
        self.paused = frozenset[OrgId]()

    def node(self) -> StaleBackups:
        stores = self.fleet.installation.stores
        return StaleBackups(
            watch=stores.stale_backups,
            unnoted=UnnotedCaptures(store=stores.configs, states=stores.backup_states, clock=self.clock),
            clock=self.clock,
            hours=HOURS,
            observers=self.fleet.told,
            is_wanted=stores.subscriptions.is_wanted,
            pauses=FixedPauses(self.paused),
        )

    async def after(self, hours: float) -> list[str]:
        """Names of the devices that a node which has just started tells of then."""
        self.clock.move(timedelta(hours=hours).total_seconds())
        self.told.clear()
        assert await self.node().look() == len(self.told)
        return sorted(event.device_name for event in self.told)

    async def captured(self, device_id: str, error: str | None = None) -> None:
        await self.fleet.installation.stores.backup_states.record(
            self.fleet.work(), device_id, at=self.clock.now(), error=error
        )


@pytest.fixture
def looks(fleet: Fleet) -> Looks:
    return Looks(fleet)


async def test_a_device_is_told_once_and_again_after_a_recovery(looks: Looks) -> None:
    device_id = await looks.fleet.entry("sw1", 22)
    await looks.captured(device_id)
    captured_at = looks.clock.now()
    assert await looks.after(25) == []
    await looks.captured(device_id, "no answer")
    assert await looks.after(2) == ["sw1"]
    [event] = looks.told
    assert event == BackupStale(
        org_id=looks.fleet.org_id,
        device_id=device_id,
        device_name="sw1",
        last_success_at=captured_at,
        hours=HOURS,
    )
    await looks.captured(device_id, "no answer")
    assert await looks.after(50) == []
    await looks.captured(device_id)
    assert await looks.after(25) == []
    assert await looks.after(2) == ["sw1"]


async def test_one_that_was_never_captured_counts_from_its_creation(looks: Looks) -> None:
    await looks.fleet.entry("never", 22)
    tried = await looks.fleet.entry("tried", 22)
    await looks.captured(tried, "no answer")
    assert await looks.after(25) == []
    await looks.fleet.entry("young", 22)
    await looks.fleet.database.collection("devices").update(
        {"name": "young"}, {"$set": {"backup.fresh_at": looks.clock.now()}}
    )
    assert await looks.after(2) == ["never", "tried"]
    assert {event.last_success_at for event in looks.told} == {None}
    assert await looks.after(25) == ["young"]
    assert await looks.after(100) == []


async def test_the_list_of_backups_does_not_show_the_watch(looks: Looks) -> None:
    await looks.fleet.entry("never", 22)
    assert await looks.after(27) == ["never"]
    [row] = (await looks.fleet.api.get("/api/devices/with-backup-info")).json["devices"]
    assert (row["last_backup_status"], row["last_backup_at"]) == ("never", None)


async def test_many_that_become_stale_at_once_are_told_in_pieces(
    looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import creates thousands at one moment."""
    names = [f"sw{number:02}" for number in range(11)]
    for name in names:
        await looks.fleet.entry(name, 22)
    moment = looks.clock.now()
    await looks.fleet.database.collection(COLLECTION).update_many({}, {"$set": {"backup.fresh_at": moment}})
    monkeypatch.setattr(stale, "AT_ONCE", 4)
    found = [await looks.after(hours) for hours in (27, 0, 0, 0)]
    assert [len(names) for names in found] == [4, 4, 3, 0]
    assert sorted(name for some in found for name in some) == names


async def test_two_nodes_at_once_tell_of_each_device_once(looks: Looks) -> None:
    for number in range(20):
        await looks.fleet.entry(f"sw{number}", 22)
    looks.clock.move(timedelta(hours=27).total_seconds())
    await looks.node().look()
    looks.told.clear()
    await looks.fleet.database.collection(COLLECTION).update_many({}, {"$set": {"backup.stale_at": None}})
    counts = await asyncio.gather(*(looks.node().look() for _ in range(3)))
    assert sum(counts) == len({event.device_id for event in looks.told}) == len(looks.told) == 20


async def test_a_capture_whose_node_died_before_it_noted_it_counts(looks: Looks) -> None:
    fleet = looks.fleet
    device_id = await fleet.device(fleet.simulated("sw1"))
    await fleet.take(device_id)
    long_ago = looks.clock.now() - timedelta(hours=100)
    forgotten = {f"backup.{name}": long_ago for name in ("fresh_at", "success_at", "at")}
    await fleet.database.collection(COLLECTION).update({"_id": device_id}, {"$set": forgotten})
    [version] = await fleet.rows("configs")
    mark = {"unnoted": version["created_at"]}
    await fleet.database.collection("configs").update({"_id": version["_id"]}, {"$set": mark})
    assert await looks.after(0.1) == []
    assert await looks.after(27) == ["sw1"]
    assert looks.told[0].last_success_at == version["created_at"]


async def test_a_failed_capture_does_not_count(looks: Looks) -> None:
    fleet = looks.fleet
    device_id = await fleet.entry("closed", 9)
    with pytest.raises(DeviceFailed):
        await fleet.take(device_id)
    assert await looks.after(27) == ["closed"]


async def test_a_deleted_device_is_not_told_and_a_revived_one_is(looks: Looks) -> None:
    device_id = await looks.fleet.entry("sw1", 22)
    await looks.fleet.api.delete(f"/api/devices/{device_id}")
    assert await looks.after(27) == []
    tombstone = {"_id": device_id, "live": False}
    revived = {"$set": {"live": True}, "$unset": {"deleted_at": ""}}
    assert await looks.fleet.database.collection("devices").update(tombstone, revived)
    assert await looks.after(0) == ["sw1"]


async def test_each_event_names_its_own_organization(looks: Looks) -> None:
    other, caller = looks.fleet.served.client("*", org_id=OrgId(str(uuid4())))
    await looks.fleet.entry("ours", 22)
    body = {"name": "theirs", "host": "127.0.0.1", "device_type": "cisco_ios"}
    assert (await other.post("/api/devices", body)).status == 201
    assert await looks.after(27) == ["ours", "theirs"]
    owners = {event.device_name: event.org_id for event in looks.told}
    assert owners == {"ours": looks.fleet.org_id, "theirs": caller.org_id}


async def test_a_paused_organization_is_told_when_its_pause_is_over_and_others_meanwhile(
    looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every one is after a restore: by then the whole fleet may be stale."""
    monkeypatch.setattr(stale, "AT_ONCE", 2)
    other, _ = looks.fleet.served.client("*", org_id=OrgId(str(uuid4())))
    for number in range(3):
        await looks.fleet.entry(f"ours{number}", 22)
    body = {"name": "theirs", "host": "127.0.0.1", "device_type": "cisco_ios"}
    assert (await other.post("/api/devices", body)).status == 201
    looks.paused = frozenset({looks.fleet.org_id})
    assert await looks.after(27) == ["theirs"]
    assert await looks.after(1) == []
    rows = await looks.fleet.rows(COLLECTION)
    assert [row["name"] for row in rows if row["backup"].get("stale_at")] == ["theirs"]
    looks.paused = frozenset()
    assert [await looks.after(0), await looks.after(0)] == [["ours0", "ours1"], ["ours2"]]


async def test_a_look_reads_only_what_has_become_stale(looks: Looks, mongo_uri: str) -> None:
    """10 of 2,000 devices: the indexes answer, and nothing else of the fleet is looked at."""
    database, now = looks.fleet.database, looks.clock.now()
    rows = [
        {
            "_id": str(uuid4()),
            "org_id": looks.fleet.org_id,
            "name": f"sw{number}",
            "live": True,
            "backup": {
                "fresh_at": now - timedelta(hours=100 if number < 500 else 1),
                "stale_at": now if 10 <= number < 500 else None,
            },
        }
        for number in range(2000)
    ]
    await database.collection(COLLECTION).insert_many(rows)
    with profiled(database, mongo_uri) as profile:
        await StaleWatch(database).overdue(now - timedelta(hours=HOURS), limit=200)
        assert profile.cost() == (10, 10)
    await database.collection(COLLECTION).insert_many(
        [{**row, "_id": str(uuid4()), "org_id": "another"} for row in rows[5:500]]
    )
    with profiled(database, mongo_uri) as profile:
        paused = [looks.fleet.org_id]
        found = await StaleWatch(database).overdue(now - timedelta(hours=HOURS), limit=200, without=paused)
        assert {one.org_id for one in found} == {"another"}
        assert profile.cost() == (15, 15)
