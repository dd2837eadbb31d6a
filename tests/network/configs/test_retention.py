"""What of the stored configs goes when its time is over, what stays, and what a crash in between leaves."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.automation.executions.models import Execution
from netautod.automation.executions.store import ExecutionStore
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.settings.retention import RetentionSettings
from netautod.network.configs.models import Config
from netautod.network.configs.retention import ConfigRetention
from netautod.network.configs.snapshots import snapshot_id
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.store import measure
from netautod.testing import ios_config
from tests.network.configs.fleet import Fleet
from tests.support.client import assert_error

DAY = timedelta(days=1)


def retention(fleet: Fleet, **settings: Any) -> ConfigRetention:
    configs = fleet.configs
    return ConfigRetention(
        devices=fleet.parts.devices.devices,
        versions=fleet.installation.stores.configs,
        texts=configs.texts,
        snapshots=configs.snapshots,
        learned=fleet.configs.learned,
        executions=fleet.installation.stores.executions,
        clock=SystemClock(),
        settings=replace(RetentionSettings(), **settings),
    )


async def versions(fleet: Fleet, device_id: str) -> list[int]:
    return [row["version"] for row in await fleet.rows("configs", device_id=device_id)]


async def history(
    fleet: Fleet, ages: Sequence[float], *, device_id: str | None = None, texts: Sequence[str] = ()
) -> str:
    """A device with one version per age, in days since it was last seen; answers its id.

    `texts` are the contents by version, else each has its own.
    """
    device = device_id or await fleet.entry(f"sw-{uuid4().hex[:6]}", 22)
    now = SystemClock().now()
    keys = await fleet.configs.texts.keys(fleet.org_id)
    for version, age in enumerate(ages, 1):
        text = texts[version - 1] if texts else f"{device} {version}\n"
        reading = measure(text, fleet.sessions.platforms.get("cisco_ios"), keys, device)
        await fleet.configs.texts.save(fleet.work(), reading)
        await ConfigStore(fleet.database).insert(
            Config(
                id=str(uuid4()),
                org_id=fleet.org_id,
                device_id=device,
                version=version,
                config_hash=reading.config_hash,
                config_format="cli",
                source="device",
                pulled_via="task",
                created_by=fleet.caller.user_id,
                created_at=now - age * DAY,
                last_seen_at=now - age * DAY,
                size=reading.size,
                notes=None,
                text_id=reading.text_id,
                platform="cisco_ios",
            ),
            fleet.work(),
        )
    await age_texts(fleet)
    return device


async def age_texts(fleet: Fleet, days: float = 1) -> None:
    """As if no capture had touched a text lately."""
    moment = SystemClock().now() - days * DAY
    await fleet.database.collection("config_texts").update_many({}, {"$set": {"touched_at": moment}})


async def snapshot(fleet: Fleet, *device_ids: str, state: str = "completed", days: float = 1) -> Execution:
    """The snapshot of an execution that ended some days ago, with the newest versions of the devices."""
    made = fleet.run()
    then = SystemClock().now() - days * DAY
    execution = replace(made, state=state, created_at=then, completed_at=then)  # type: ignore[arg-type]
    await ExecutionStore(fleet.database).insert(execution)
    await add(fleet, execution, *device_ids)
    await fleet.configs.snapshots.create(
        fleet.org_id,
        name="nightly",
        task_id=execution.task_id,
        execution_id=execution.id,
        devices_total=len(device_ids),
        succeeded=len(device_ids),
        failed=0,
    )
    return execution


async def add(fleet: Fleet, execution: Execution, *device_ids: str) -> None:
    await fleet.configs.snapshots.begin(fleet.org_id, execution.id)
    for device_id in device_ids:
        newest = await ConfigStore(fleet.database).newest(fleet.org_id, device_id)
        assert newest is not None
        captured: Any = type("Taken", (), {"config": newest})
        await fleet.configs.snapshots.add(fleet.work(), execution.id, "sw", captured)


@pytest.mark.parametrize(
    ("ages", "settings", "left"),
    [
        pytest.param([400, 300, 200], {}, [1, 2, 3], id="by default all stay"),
        pytest.param([400, 300, 200], {"config_versions": 2}, [2, 3], id="the newest two"),
        pytest.param([400, 300, 200], {"config_versions": 5}, [1, 2, 3], id="fewer than the limit"),
        pytest.param([3, 0.01, 0], {"config_versions": 1}, [2, 3], id="what was seen a moment ago stays"),
        pytest.param([400, 300, 2], {"config_days": 350}, [2, 3], id="not seen for so long"),
        pytest.param([400, 300, 200], {"config_days": 10}, [3], id="the newest stays however old"),
        pytest.param([9, 8, 7, 6], {"config_days": 7.5, "config_versions": 3}, [3, 4], id="both limits"),
    ],
)
async def test_old_versions(
    fleet: Fleet, ages: list[float], settings: dict[str, float], left: list[int]
) -> None:
    device_id = await history(fleet, ages)
    sweeper = retention(fleet, **settings)
    for _ in range(2):  # a second pass finds nothing more
        await sweeper.sweep()
        assert await versions(fleet, device_id) == left
        assert len(await fleet.rows("config_texts")) == len(left)
    for version in left:
        assert (await fleet.api.get(f"/api/config/devices/{device_id}/configs/{version}")).status == 200


async def test_what_a_kept_snapshot_names_stays_and_goes_with_it(fleet: Fleet) -> None:
    device_id = await history(fleet, [30])
    execution = await snapshot(fleet, device_id)
    for version in (2, 3):
        await ConfigStore(fleet.database).insert(await copy(fleet, device_id, version), fleet.work())
    sweeper = retention(fleet, config_versions=1)
    await sweeper.sweep()
    assert await versions(fleet, device_id) == [1, 3]
    await fleet.configs.snapshots.drop(fleet.org_id, execution.id)
    await sweeper.sweep()
    assert await versions(fleet, device_id) == [3]


async def copy(fleet: Fleet, device_id: str, version: int) -> Config:
    newest = await ConfigStore(fleet.database).newest(fleet.org_id, device_id)
    assert newest is not None
    return replace(newest, id=str(uuid4()), version=version)


async def test_a_text_stays_as_long_as_any_version_names_it(fleet: Fleet) -> None:
    one = await history(fleet, [9, 8], texts=["shared\n", "own\n"])
    other = await history(fleet, [9], texts=["shared\n"])
    sweeper = retention(fleet, config_versions=1)
    await sweeper.sweep()
    assert await versions(fleet, one) == [2]
    assert len(await fleet.rows("config_texts")) == 2
    assert (await fleet.api.get(f"/api/config/devices/{other}/configs/1")).json["config_text"] == "shared\n"
    assert await fleet.rows("config_texts", loose={"$gt": ""}) == []  # all are known to be named


async def test_a_text_that_a_capture_has_just_touched_is_not_deleted(fleet: Fleet) -> None:
    """Its version, which would be the only one to name it, is written a moment later."""
    await history(fleet, [9, 8], texts=["coming back\n", "other\n"])
    sweeper = retention(fleet, config_versions=1)
    keys = await fleet.configs.texts.keys(fleet.org_id)
    reading = measure("coming back\n", fleet.sessions.platforms.get("cisco_ios"), keys, "d")
    await fleet.configs.texts.save(fleet.work(), reading)
    await sweeper.sweep()
    assert reading.text_id in {row["_id"] for row in await fleet.rows("config_texts")}
    await age_texts(fleet)  # the capture died: nobody ever named it
    await sweeper.sweep()
    assert reading.text_id not in {row["_id"] for row in await fleet.rows("config_texts")}


async def test_a_touch_between_the_look_and_the_deletion_wins(fleet: Fleet) -> None:
    await history(fleet, [9], texts=["a\n"])
    await fleet.database.collection("configs").delete_many({})
    texts, before = fleet.configs.texts, SystemClock().now() - DAY / 2
    (found,) = [text async for text in texts.loose(untouched_since=before)]
    keys = await texts.keys(fleet.org_id)
    platform = fleet.sessions.platforms.get("cisco_ios")
    await texts.save(fleet.work(), measure("a\n", platform, keys, "d"))
    assert not await texts.discard(found, untouched_since=before)
    await age_texts(fleet)
    await texts.loosen(fleet.org_id, [found.id])  # another version that named it was deleted meanwhile
    await texts.mark_named(found)
    assert [text.id async for text in texts.loose(untouched_since=before)] == [found.id]


async def test_a_deleted_device_goes_whole_after_its_time(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    kept = await history(fleet, [1])
    for community in ("a", "b"):
        switch.config = ios_config("sw1", community=community)
        await fleet.take(device_id)
    execution = await snapshot(fleet, device_id, kept)
    assert (await fleet.api.delete(f"/api/devices/{device_id}")).status == 204
    await age_texts(fleet)
    await retention(fleet).sweep()
    assert await versions(fleet, device_id) == [1, 2]
    learned = {"_id": device_id, "org_id": fleet.org_id, "learned_token": "t"}
    await fleet.database.collection("backup_facts").insert(learned)
    tombstone = {"$set": {"deleted_at": SystemClock().now() - 91 * DAY}}
    await fleet.database.collection("devices").update({"_id": device_id}, tombstone)
    await retention(fleet, deleted_device_days=92).sweep()
    assert await versions(fleet, device_id) == [1, 2]
    await retention(fleet).sweep()
    for collection, where in (("configs", {"device_id": device_id}), ("backup_facts", {"_id": device_id})):
        assert await fleet.rows(collection, **where) == []
    assert await fleet.rows("devices", _id=device_id) == []
    assert len(await fleet.rows("config_texts")) == 1
    shown = (await fleet.api.get(f"/api/config/snapshots/{snapshot_id(execution.id)}")).json
    assert [row["device_id"] for row in shown["configs"]] == [kept]
    assert await versions(fleet, kept) == [1]


async def test_a_purge_that_died_is_finished_and_a_revived_device_keeps_everything(fleet: Fleet) -> None:
    dying, revived = [await history(fleet, [200]) for _ in range(2)]
    devices = fleet.database.collection("devices")
    old = SystemClock().now() - 91 * DAY
    for device_id in (dying, revived):
        await fleet.api.delete(f"/api/devices/{device_id}")
        await devices.update({"_id": device_id}, {"$set": {"deleted_at": old}})
    await devices.update({"_id": dying}, {"$set": {"live": None}})
    await devices.update({"_id": revived}, {"$set": {"live": True}})
    await retention(fleet).sweep()
    assert await versions(fleet, dying) == []
    assert [row["_id"] for row in await devices.find({})] == [revived]
    assert await versions(fleet, revived) == [1]


@pytest.mark.parametrize(
    ("state", "days", "stays"),
    [
        pytest.param("failed", 1, False, id="ended without a snapshot"),
        pytest.param("failed", 0, True, id="ended a moment ago"),
        pytest.param("running", 1, True, id="still running"),
        pytest.param("pending", 1, True, id="waits for its retry"),
        pytest.param(None, 1, False, id="the execution is gone"),
    ],
)
async def test_drafts_of_executions_that_never_finished(
    fleet: Fleet, state: str | None, days: float, stays: bool
) -> None:
    device_id = await history(fleet, [1])
    then = SystemClock().now() - days * DAY
    ended = None if state in ("running", "pending") else then
    execution = replace(fleet.run(), state=state or "failed", completed_at=ended)  # type: ignore[arg-type]
    if state is not None:
        await ExecutionStore(fleet.database).insert(execution)
    await add(fleet, execution, device_id)
    draft = snapshot_id(execution.id)
    assert_error(await fleet.api.get(f"/api/config/snapshots/{draft}"), 404, "Snapshot not found")
    assert (await fleet.api.get("/api/config/snapshots")).json["total"] == 0
    await fleet.database.collection("snapshots").update({"_id": draft}, {"$set": {"draft_since": then}})
    await retention(fleet).sweep()
    assert [row["_id"] for row in await fleet.rows("snapshots")] == ([draft] if stays else [])
    assert len(await fleet.rows("snapshot_configs")) == stays


async def test_a_snapshot_goes_with_its_execution(fleet: Fleet) -> None:
    device_id = await history(fleet, [1])
    gone, kept = [await snapshot(fleet, device_id) for _ in range(2)]
    for _ in range(2):  # after a crash the same execution is reported again
        await fleet.configs.snapshots.drop(fleet.org_id, gone.id)
    await fleet.configs.snapshots.drop(OrgId("another"), kept.id)
    listed = (await fleet.api.get("/api/config/snapshots")).json["snapshots"]
    assert [found["id"] for found in listed] == [snapshot_id(kept.id)]
    assert {row["snapshot_id"] for row in await fleet.rows("snapshot_configs")} == {snapshot_id(kept.id)}


async def test_a_snapshot_that_is_half_dropped_is_gone_and_the_rest_follows(fleet: Fleet) -> None:
    execution = await snapshot(fleet, await history(fleet, [1]), days=5)
    hidden = {"$set": {"draft_since": SystemClock().now() - DAY}}
    await fleet.database.collection("snapshots").update({"_id": snapshot_id(execution.id)}, hidden)
    assert (await fleet.api.get("/api/config/snapshots")).json["total"] == 0
    await retention(fleet).sweep()
    assert await fleet.rows("snapshots") == await fleet.rows("snapshot_configs") == []


async def test_texts_of_parts_go_when_no_version_names_them(fleet: Fleet) -> None:
    async def sweep(**settings: Any) -> set[str]:
        await age_texts(fleet)
        await retention(fleet, **settings).sweep()
        return {row["_id"] for row in await fleet.rows("config_texts")}

    switch = fleet.simulated()
    switch.responses = {"show inventory": "one\n"}
    device_id = await fleet.device(switch)
    await fleet.pulled(device_id)
    (before,) = await fleet.rows("configs")
    first = {part["name"]: part["text_id"] for part in before["parts"]}
    assert set(first.values()) < await sweep()
    switch.responses = {"show inventory": "another\n"}
    await fleet.database.collection("configs").update_many(
        {}, {"$set": {"parts_at": before["created_at"] - DAY}}
    )
    await fleet.pulled(device_id)
    left = await sweep()
    assert first["inventory"] not in left
    (after,) = await fleet.rows("configs")
    assert {part["text_id"] for part in after["parts"]} < left
    assert (await fleet.api.delete(f"/api/devices/{device_id}")).status == 204
    await fleet.database.collection("devices").update_many(
        {}, {"$set": {"deleted_at": before["created_at"] - 99 * DAY}}
    )
    assert await sweep() == set()
