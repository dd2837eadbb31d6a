"""Snapshots: one per execution, brought up to date by each attempt, readable without the execution."""

import pytest

from netautod.core.errors import Forbidden
from netautod.core.work.guard import LeaseLostError
from netautod.plugin_api import DeviceFailed, ResultTotals
from netautod.testing import Faults, ios_config
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error

SNAPSHOTS = "/api/config/snapshots"


def totals(succeeded: int, failed: int = 0) -> ResultTotals:
    return ResultTotals(
        devices_total=succeeded + failed,
        succeeded=succeeded,
        failed=failed,
        changed=succeeded,
        unchanged=0,
    )


async def test_each_attempt_completes_the_same_snapshot(fleet: Fleet) -> None:
    switches = [fleet.simulated(name) for name in ("sw-b", "sw-a")]
    ids = [await fleet.device(switch) for switch in switches]
    run = fleet.run()
    await fleet.acting(run).capture_config(ids[0])
    made = await fleet.acting(run).create_snapshot("nightly", totals(1, 1))
    outcome = await fleet.acting(run).capture_config(ids[1])
    assert await fleet.acting(run).create_snapshot("nightly", totals(2)) == made
    switches[0].config = ios_config("sw-b", community="later")
    await fleet.acting().capture_config(ids[0])  # another execution changes nothing here
    found = (await fleet.api.get(f"{SNAPSHOTS}/{made}")).json
    assert (found["name"], found["devices_total"], found["succeeded"], found["failed"]) == (
        "nightly",
        2,
        2,
        0,
    )
    assert (found["task_id"], found["execution_id"]) == (run.task_id, run.id)
    assert [(row["device_name"], row["version"]) for row in found["configs"]] == [("sw-a", 1), ("sw-b", 1)]
    assert found["configs"][0]["config_id"] == outcome.config_id
    listed = (await fleet.api.get(SNAPSHOTS)).json
    assert (listed["total"], [item["id"] for item in listed["snapshots"]]) == (1, [made])
    assert "configs" not in listed["snapshots"][0]


async def test_snapshots_are_newest_first_and_page(fleet: Fleet) -> None:
    made = [await fleet.acting().create_snapshot(f"run {number}", totals(0)) for number in range(3)]
    created = [(await fleet.api.get(f"{SNAPSHOTS}/{one}")).json["created_at"] for one in made]
    newest_first = [one for _, one in sorted(zip(created, made, strict=True), key=lambda pair: pair[0])][::-1]
    page = (await fleet.api.get(f"{SNAPSHOTS}?limit=2&offset=0")).json
    assert len(page["snapshots"]) == 2
    assert page["total"] == 3
    if len(set(created)) == 3:
        assert [item["id"] for item in page["snapshots"]] == newest_first[:2]


async def test_rows_are_stored_as_every_release_reads_them(fleet: Fleet) -> None:
    run, device_id = fleet.run(), await fleet.device(fleet.simulated("sw1"))
    taken = await fleet.acting(run).capture_config(device_id)
    made = await fleet.acting(run).create_snapshot("nightly", totals(1))
    assert await fleet.rows("snapshot_configs") == [
        {
            "_id": f"{made}:{device_id}",
            "org_id": fleet.org_id,
            "snapshot_id": made,
            "device_id": device_id,
            "device_name": "sw1",
            "config_id": taken.config_id,
            "version": taken.version,
            "config_hash": taken.config_hash,
        }
    ]


async def test_a_snapshot_of_an_earlier_release_tells_nothing_of_secrets(fleet: Fleet) -> None:
    """Its rows hold the hash of the text with secrets."""
    run, device_id = fleet.run(), await fleet.device(fleet.simulated("sw1"))
    taken = await fleet.acting(run).capture_config(device_id)
    made = await fleet.acting(run).create_snapshot("nightly", totals(1))
    of_before = {"$set": {"config_hash": "of the secrets"}}
    await fleet.database.collection("snapshot_configs").update_many({}, of_before)
    [row] = (await fleet.api.get(f"{SNAPSHOTS}/{made}")).expect()["configs"]
    assert row["config_hash"] == taken.config_hash
    await fleet.database.collection("configs").update_many({}, {"$unset": {"shown": ""}})
    [row] = (await fleet.api.get(f"{SNAPSHOTS}/{made}")).expect()["configs"]
    assert row["config_hash"] is None


async def test_snapshots_of_others_are_not_there(fleet: Fleet) -> None:
    made = await fleet.acting().create_snapshot("ours", totals(0))
    stranger = fleet.served.client("*")[0]
    for wanted in (made, ABSENT_ID, "x"):
        assert_error(await stranger.get(f"{SNAPSHOTS}/{wanted}"), 404, "Snapshot not found")
    assert (await stranger.get(SNAPSHOTS)).json["total"] == 0
    assert_error(await fleet.with_permissions("tasks.operate").get(SNAPSHOTS), 403)


async def test_a_run_acts_with_the_rights_of_its_owner(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    services = fleet.acting(permission="tasks.operate")
    with pytest.raises(Forbidden):
        await services.capture_config(device_id)
    with pytest.raises(Forbidden):
        await services.create_snapshot("x", totals(0))
    with pytest.raises(Forbidden):
        await anext(aiter(services.devices()))


async def test_devices_are_filtered_and_in_the_order_of_their_ids(fleet: Fleet) -> None:
    ids = [await fleet.entry(f"sw{number}", 22, site="lab" if number % 2 else None) for number in range(5)]
    services = fleet.acting()
    assert [device.id async for device in services.devices()] == sorted(ids)
    assert {device.name async for device in services.devices(site="lab")} == {"sw1", "sw3"}
    assert [device async for device in services.devices(device_type="linux")] == []


@pytest.mark.parametrize(
    ("faults", "kind", "final"),
    [
        pytest.param(Faults(refuse_logins=True), "auth", True, id="a refused login"),
        pytest.param(Faults(truncate_after=500), "incomplete", False, id="a cut config"),
    ],
)
async def test_a_failure_says_whether_a_retry_helps(
    fleet: Fleet, faults: Faults, kind: str, final: bool
) -> None:
    device_id = await fleet.device(fleet.simulated(faults=faults))
    with pytest.raises(DeviceFailed) as caught:
        await fleet.acting().capture_config(device_id)
    failed = caught.value
    assert (failed.kind, failed.final, failed.credential_id) == (kind, final, fleet.credential_id)


async def test_a_deleted_device_and_a_credential_that_is_gone(fleet: Fleet) -> None:
    device_id = await fleet.entry("sw1", 22)
    for wanted, credential_id, kind in ((ABSENT_ID, None, "not_found"), (device_id, ABSENT_ID, "credential")):
        with pytest.raises(DeviceFailed) as caught:
            await fleet.acting().capture_config(wanted, credential_id=credential_id)
        assert (caught.value.kind, caught.value.final) == (kind, True)


async def test_nothing_is_stored_once_the_lease_of_the_run_is_lost(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)

    def guard() -> None:
        if "show running-config" in switch.commands:
            raise LeaseLostError("the run is somebody else's")

    with pytest.raises(LeaseLostError):
        await fleet.acting(guard=guard).capture_config(device_id)
    for collection in ("configs", "config_texts", "snapshot_configs"):
        assert await fleet.database.collection(collection).find({}) == []
