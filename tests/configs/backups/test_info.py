"""How the backup of each device stands: what the facts and the versions say together, and the list of it."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.configs.backups.facts import BackupFacts, BackupFactsStore
from netautod.configs.backups.info import backup_info
from netautod.configs.models import Config
from netautod.core.identity import OrgId, system_caller
from netautod.core.json_values import to_text
from netautod.core.work import Work
from netautod.store.client import Database
from netautod.testing import Faults, ios_config
from tests.configs.fleet import Fleet
from tests.support.client import assert_error

LIST = "/api/devices/with-backup-info"
FIELDS = {
    *("last_backup_at", "last_backup_status", "last_backup_error", "last_success_at"),
    *("config_version", "config_hash", "config_changed_at"),
}
ORG = OrgId("o")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE, TWO, THREE = (NOON + timedelta(hours=hours) for hours in (1, 2, 3))
NEWEST = Config(
    id="c",
    org_id=ORG,
    device_id="d",
    version=7,
    config_hash="h",
    config_format="cli",
    source="device",
    pulled_via="task",
    created_by="u",
    created_at=NOON,
    last_seen_at=NOON,
    size=1,
    notes=None,
    text_id="t",
    platform="cisco_ios",
)


@pytest.mark.parametrize(
    ("facts", "seen", "expected"),
    [
        pytest.param(None, None, (None, "never", None, None), id="never captured"),
        pytest.param(
            (ONE, "auth", None), None, (ONE, "failed", "auth", None), id="failed from the beginning"
        ),
        pytest.param((ONE, None, ONE), ONE, (ONE, "success", None, ONE), id="a success"),
        pytest.param((TWO, "down", ONE), ONE, (TWO, "failed", "down", ONE), id="failed after a success"),
        pytest.param(None, ONE, (ONE, "success", None, ONE), id="the node died before the first facts"),
        pytest.param((TWO, "down", ONE), THREE, (THREE, "success", None, THREE), id="died after a failure"),
        pytest.param((TWO, "down", None), ONE, (TWO, "failed", "down", ONE), id="died, then a failure"),
        pytest.param(
            (TWO, None, TWO), ONE, (TWO, "success", None, TWO), id="noted a moment after it was seen"
        ),
    ],
)
def test_what_both_sources_say_together(facts: Any, seen: datetime | None, expected: Any) -> None:
    noted = None if facts is None else BackupFacts(last_at=facts[0], error=facts[1], last_success_at=facts[2])
    newest = None if seen is None else replace(NEWEST, last_seen_at=seen)
    info = backup_info(noted, newest)
    assert (info.last_backup_at, info.status, info.error, info.last_success_at) == expected
    shown = info.to_json()
    changed = None if newest is None else to_text(NOON)
    assert set(shown) == FIELDS
    assert (shown["config_version"], shown["config_changed_at"]) == (7 if newest else None, changed)


@pytest.mark.parametrize(
    ("facts", "seen", "expected"),
    [
        pytest.param(None, NOON, (None, "never", None, None), id="imported and never captured"),
        pytest.param((ONE, "auth", None), NOON, (ONE, "failed", "auth", None), id="imported, then a failure"),
        pytest.param(
            (THREE, None, THREE), TWO, (THREE, "success", None, THREE), id="a capture met what was imported"
        ),
        pytest.param(None, ONE, (ONE, "success", None, ONE), id="it did, and the node died before the facts"),
    ],
)
def test_an_import_is_no_backup(facts: Any, seen: datetime, expected: Any) -> None:
    noted = None if facts is None else BackupFacts(last_at=facts[0], error=facts[1], last_success_at=facts[2])
    newest = replace(NEWEST, source="import", pulled_via="import", last_seen_at=seen)
    info = backup_info(noted, newest)
    assert (info.last_backup_at, info.status, info.error, info.last_success_at) == expected
    assert (info.to_json()["config_version"], info.to_json()["config_hash"]) == (7, "h")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=["in time", "backwards", "mixed"])
async def test_captures_may_be_noted_in_any_order(database: Database, order: tuple[int, ...]) -> None:
    store, work = BackupFactsStore(database), Work(caller=system_caller(ORG))
    ended = [(ONE, None), (TWO, None), (THREE, "$down")]
    for number in order:
        at, error = ended[number]
        await store.record(work, "d", at=at, error=error)
    assert await store.of(ORG, ["d", "e"]) == {
        "d": BackupFacts(last_at=THREE, error="$down", last_success_at=TWO)
    }
    assert await store.of(OrgId("another"), ["d"]) == {}


async def test_captures_noted_at_once_lose_nothing(database: Database) -> None:
    store, work = BackupFactsStore(database), Work(caller=system_caller(ORG))
    moments = [NOON + timedelta(minutes=minute) for minute in range(20)]
    await asyncio.gather(*(store.record(work, "d", at=moment, error=None) for moment in moments))
    assert (await store.of(ORG, ["d"]))["d"].last_success_at == moments[-1]


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
        assert {**found, "devices": bare} == plain
    assert_error(await fleet.api.get(f"{LIST}?limit=0"), 400, "limit")
    assert_error(await fleet.with_permissions("tasks.operate").get(LIST), 403)
    assert (await fleet.served.client("*")[0].get(LIST)).json["devices"] == []


async def test_a_device_that_does_not_exist_leaves_no_facts(fleet: Fleet) -> None:
    device_id = await fleet.entry("gone", 22)
    await fleet.api.delete(f"/api/devices/{device_id}")
    assert_error(await fleet.api.post(f"/api/config/devices/{device_id}/pull"), 404)
    assert await fleet.database.collection("backup_facts").find({}) == []
