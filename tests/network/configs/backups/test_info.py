"""How the backup of each device stands: what captures note, and the list of it."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.identity.caller import OrgId
from netautod.network.configs.backups.models import BackupFacts
from netautod.network.devices.records.documents import no_backup
from netautod.testing import Faults, ios_config
from tests.network.configs.fleet import Fleet
from tests.support.client import assert_error

LIST = "/api/devices/with-backup-info"
FIELDS = {
    *("last_backup_at", "last_backup_status", "last_backup_error", "error_kind", "last_success_at"),
    *("config_version", "config_hash", "config_changed_at"),
}
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE, TWO, THREE = (NOON + timedelta(hours=hours) for hours in (1, 2, 3))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=["in time", "backwards", "mixed"])
async def test_captures_may_be_noted_in_any_order(fleet: Fleet, order: tuple[int, ...]) -> None:
    device_id, states = await fleet.entry("d", 22), fleet.installation.stores.backup_states
    ended = [(ONE, None, None), (TWO, None, None), (THREE, "$down", "timeout")]
    for number in order:
        at, error, kind = ended[number]
        await states.record(fleet.work(), device_id, at=at, error=error, kind=kind)
    assert await states.of(fleet.org_id, [device_id, str(uuid4())]) == {
        device_id: BackupFacts(
            status="failed", last_at=THREE, error="$down", kind="timeout", last_success_at=TWO
        )
    }
    assert await states.of(OrgId("another"), [device_id]) == {}


async def test_captures_noted_at_once_lose_nothing(fleet: Fleet) -> None:
    device_id, states = await fleet.entry("d", 22), fleet.installation.stores.backup_states
    moments = [NOON + timedelta(minutes=minute) for minute in range(20)]
    await asyncio.gather(
        *(states.record(fleet.work(), device_id, at=moment, error=None) for moment in moments)
    )
    assert (await states.of(fleet.org_id, [device_id]))[device_id].last_success_at == moments[-1]


async def listed(fleet: Fleet, query: str = "") -> dict[str, Any]:
    response = await fleet.api.get(f"{LIST}?{query}")
    assert response.status == 200, response.content
    return {device["name"]: device for device in response.json["devices"]}


async def test_every_capture_is_noted_with_its_outcome(fleet: Fleet) -> None:
    switch = fleet.simulated("good")
    good = await fleet.device(switch)
    bad = await fleet.device(fleet.simulated("bad", faults=Faults(refuse_logins=True)))
    await fleet.entry("never", 22)
    config = await fleet.pulled(good)
    await fleet.api.post("/api/config/devices/bulk-pull", {"device_ids": [bad]})
    found = await listed(fleet)
    assert list(found) == ["bad", "good", "never"]
    assert {key: found["never"][key] for key in FIELDS} == {
        **dict.fromkeys(FIELDS),
        "last_backup_status": "never",
    }
    assert (found["bad"]["last_backup_status"], found["bad"]["config_version"]) == ("failed", None)
    assert "refused" in found["bad"]["last_backup_error"]
    assert found["bad"]["last_success_at"] is None
    assert found["good"]["last_backup_status"] == "success"
    assert found["good"]["config_hash"] == config["config_hash"]
    assert found["good"]["config_changed_at"] == config["created_at"]
    switch.config, switch.faults = ios_config("good", community="new"), Faults(truncate_after=900)
    assert_error(await fleet.api.post(f"/api/config/devices/{good}/pull"), 502)
    failed = (await listed(fleet))["good"]
    assert (failed["last_backup_status"], failed["config_version"]) == ("failed", 1)
    assert failed["last_success_at"] == found["good"]["last_success_at"] < failed["last_backup_at"]
    switch.faults = Faults()
    await fleet.pulled(good)
    again = (await listed(fleet))["good"]
    assert (again["last_backup_status"], again["last_backup_error"]) == ("success", None)
    assert (again["config_version"], again["config_changed_at"] > config["created_at"]) == (2, True)


async def test_it_is_the_device_list_with_its_filters_and_paging(fleet: Fleet) -> None:
    await fleet.entry("a", 22, site="Bonn")
    await fleet.entry("b", 22)
    await fleet.entry("c", 22, site="Bonn", tags=["x"])
    for query in ("", "site=Bonn", "tag=x", "q=B", "limit=1&offset=1", "device_type=linux", "source=csv"):
        plain = (await fleet.api.get(f"/api/devices?{query}")).json
        found = (await fleet.api.get(f"{LIST}?{query}")).json
        bare = [{key: device[key] for key in device.keys() - FIELDS} for device in found["devices"]]
        del found["counts"]
        assert {**found, "devices": bare} == plain
    assert_error(await fleet.api.get(f"{LIST}?limit=0"), 400, "limit")
    assert_error(await fleet.with_permissions("tasks.operate").get(LIST), 403)
    assert (await fleet.served.client("*")[0].get(LIST)).json["devices"] == []


async def test_a_device_that_does_not_exist_leaves_no_facts(fleet: Fleet) -> None:
    device_id = await fleet.entry("gone", 22)
    await fleet.api.delete(f"/api/devices/{device_id}")
    assert_error(await fleet.api.post(f"/api/config/devices/{device_id}/pull"), 404)
    [row] = await fleet.rows("devices")
    assert row["backup"] == no_backup(row["created_at"])
