"""Bulk pulls: every device once, typed reasons, an end with the client; and the observers of changes."""

from dataclasses import replace

import pytest

from netautod.automation.executions.schemas import ExecutionAnswer
from netautod.core.errors import Unavailable
from netautod.network.configs.capture.pulls import AT_ONCE
from netautod.network.configs.schemas import StartedPullAnswer
from netautod.store.scoped import scoped
from netautod.testing import Faults, SimulatedDevice, ios_config
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID

BULK = "/api/config/devices/bulk-pull"


async def test_each_failure_has_its_kind_and_the_others_succeed(fleet: Fleet) -> None:
    good = await fleet.device(fleet.simulated("good"))
    cut = await fleet.device(fleet.simulated("cut", faults=Faults(truncate_after=900)))
    refusing = await fleet.device(fleet.simulated("refusing", faults=Faults(refuse_logins=True)))
    closed = await fleet.entry("closed", 1)
    ids = [good, cut, refusing, closed, ABSENT_ID, good.upper(), ABSENT_ID]
    found = (await fleet.api.post(BULK, {"device_ids": ids})).json
    assert (found["succeeded"], found["failed"]) == (1, 4)
    kinds = {error["device_id"]: (error["device_name"], error["error"]) for error in found["errors"]}
    assert [(kinds[one][0], kinds[one][1].partition(":")[0]) for one in (cut, refusing, closed)] == [
        *(("cut", "incomplete"), ("refusing", "auth"), ("closed", "refused"))
    ]
    assert kinds[ABSENT_ID] == (None, "Device not found")
    assert all(set(error) == {"device_id", "device_name", "error"} for error in found["errors"])


async def test_thousands_of_unknown_ids_are_as_many_errors(fleet: Fleet) -> None:
    ids = [f"00000000-0000-4000-8000-{number:012}" for number in range(10_000)]
    found = (await fleet.api.post(BULK, {"device_ids": ids})).json
    assert (found["succeeded"], found["failed"]) == (0, 10_000)
    assert {error["device_id"] for error in found["errors"]} == set(ids)


async def test_a_pull_in_the_background_is_an_execution(fleet: Fleet) -> None:
    """Its ids may be of devices that are not there: they are passed over when it runs."""
    device_id = await fleet.entry("sw1", 1)
    wanted = {"device_ids": [device_id.upper(), ABSENT_ID, device_id]}
    started = (await fleet.api.post(f"{BULK}?background=true", wanted)).expect(202)
    assert set(started) == set(ExecutionAnswer().fields)
    named = {name: started[name] for name in ("task_id", "task_type", "task_name", "state", "triggered_by")}
    assert named == {
        "task_id": None,
        "task_type": "backup",
        "task_name": "bulk pull",
        "state": "pending",
        "triggered_by": "manual",
    }
    assert started["requested_by"]["id"] == fleet.caller.user_id
    row = await scoped(fleet.database, "executions").find_one(fleet.org_id, {"_id": started["id"]})
    assert row is not None
    visited = fleet.acting(replace(fleet.run(), device_subset=row["chosen"])).devices()
    assert [device.name async for device in visited] == ["sw1"]
    [event] = await fleet.audited("config.bulk_pull")
    assert (event["resource_id"], event["details"]["devices"]) == (started["id"], 2)


def test_what_is_said_of_it_is_what_is_said_of_executions() -> None:
    """The schemas know nothing of one another; clients know one execution."""
    ours, theirs = StartedPullAnswer().fields, ExecutionAnswer().fields
    assert {name: field.allow_none for name, field in ours.items()} == {
        name: field.allow_none for name, field in theirs.items()
    }


async def test_of_chosen_devices_no_other_is_visited(fleet: Fleet) -> None:
    ids = [await fleet.entry(f"sw{number}", 1, site="lab") for number in range(3)]
    subset = replace(fleet.run(), device_subset=[ids[2], ABSENT_ID, ids[0], ids[2]])
    acting = fleet.acting(subset)
    assert {device.name async for device in acting.devices()} == {"sw0", "sw2"}
    assert {device.name async for device in acting.devices(site="elsewhere")} == {"sw0", "sw2"}
    none = fleet.acting(replace(subset, device_subset=[]))
    assert [device.name async for device in none.devices()] == []


async def test_a_database_that_is_away_ends_the_pull_as_such(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    async def away(scope: object, device_id: str, *, via: str) -> None:
        taken.append(device_id)
        raise Unavailable("The database is not available at the moment")

    monkeypatch.setattr(fleet.configs.captures, "take", away)
    ids = [f"00000000-0000-4000-8000-{number:012}" for number in range(5 * AT_ONCE)]
    response = await fleet.api.post(BULK, {"device_ids": ids})
    assert response.status == 503
    assert len(taken) <= AT_ONCE


async def test_a_client_that_goes_away_ends_its_pull(fleet: Fleet) -> None:
    switch = fleet.simulated("slow", latency=30.0)
    device_id = await fleet.device(switch)
    stream = await fleet.unread(BULK, device_ids=[device_id])
    await switch.wait_until(lambda device: bool(device.open_sessions))
    stream.close()
    # Sooner than the session would give up by itself (fleet.QUICK).
    await switch.wait_until(lambda device: not device.open_connections, seconds=3)
    assert await fleet.audited("config.bulk_pull") == []
    assert (await fleet.rows("devices"))[0]["backup"]["state"] == "never"


async def test_an_observer_is_told_of_new_versions_only(fleet: Fleet) -> None:
    switch: SimulatedDevice = fleet.simulated()
    device_id = await fleet.device(switch)
    for community, execution_id in (("a", None), ("a", None), ("b", ABSENT_ID)):
        switch.config = ios_config("sw1", community=community)
        captured = await fleet.take(device_id, via="task", execution_id=execution_id)
    changes = fleet.told.changes
    assert [(change.version, change.previous_version, change.execution_id) for change in changes] == [
        *((1, None, None), (2, 1, ABSENT_ID))
    ]
    last = changes[-1]
    assert (last.org_id, last.device_id, last.device_name) == (fleet.org_id, device_id, "sw1")
    assert last.config_hash == captured.config.shown.config_hash != captured.config.config_hash
