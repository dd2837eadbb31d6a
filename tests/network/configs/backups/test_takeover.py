"""How backups stood in older releases is taken over once, and again what a node of such a release writes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.core.work.guard import no_guard
from netautod.network.configs.backups.legacy_states import NOT_TAKEN, take_over
from netautod.network.configs.store import ConfigStore
from netautod.store.client import Database

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ONE, TWO, THREE = (NOON + timedelta(hours=hours) for hours in (1, 2, 3))
REPORT = {"id": "r", "at": THREE, "told": {"hours": 1}}
# (row, the newest version was seen at) -> at, state, error, kind, success_at, fresh_at, stale_at
STATES: dict[str, tuple[dict[str, Any] | None, datetime | None, tuple[Any, ...]]] = {
    "new": (None, None, (None, "never", None, None, None, NOON, None)),
    "watched": ({"watched_from": NOON}, None, (None, "never", None, None, None, NOON, None)),
    "told": (
        {"watched_from": NOON, "stale_at": THREE, "owed": REPORT},
        None,
        (None, "never", None, None, None, NOON, THREE),
    ),
    "good": (
        {"last_at": ONE, "error": None, "last_success_at": ONE, "stale_at": None},
        ONE,
        (ONE, "success", None, None, ONE, ONE, None),
    ),
    "failed": (
        {"last_at": TWO, "error": "$no", "last_success_at": ONE, "stale_at": None},
        ONE,
        (TWO, "failed", "$no", "unknown", ONE, ONE, None),
    ),
    "always failed": (
        {"last_at": TWO, "error": "no", "last_success_at": None, "stale_at": THREE},
        None,
        (TWO, "failed", "no", "unknown", None, NOON, THREE),
    ),
    "died before the first row": (None, ONE, (ONE, "success", None, None, ONE, ONE, None)),
    "died after a failure": (
        {"last_at": TWO, "error": "no", "last_success_at": ONE, "stale_at": None},
        THREE,
        (THREE, "success", None, None, THREE, THREE, None),
    ),
    "only learned": ({"learned": b"x"}, None, (None, "never", None, None, None, NOON, None)),
}
NAMES = ("at", "state", "error", "kind", "success_at", "fresh_at", "stale_at")


async def earlier(database: Database) -> None:
    for number, (name, (row, seen, _)) in enumerate(STATES.items()):
        org_id = f"o{number % 2}"
        device = {"_id": name, "org_id": org_id, "name": name, "live": name != "good", "created_at": NOON}
        await database.collection("devices").insert(device)
        if row is not None:
            await database.collection("backup_facts").insert({"_id": name, "org_id": org_id, **row})
        if seen is not None:
            await database.collection("configs").insert(version(name, org_id, seen))


def version(device_id: str, org_id: str, seen: datetime) -> dict[str, Any]:
    texts = dict.fromkeys(("config_hash", "config_format", "pulled_via", "created_by", "text_id"), "x")
    return {
        "_id": f"c {device_id}",
        "org_id": org_id,
        "device_id": device_id,
        "version": 1,
        **texts,
        "source": "device",
        "created_at": NOON,
        "last_seen_at": seen,
        "size": 1,
        "notes": None,
        "platform": "linux",
    }


async def upgraded(database: Database) -> dict[str, tuple[Any, ...]]:
    await take_over(database, ConfigStore(database), no_guard)
    rows = await database.collection("devices").find({})
    return {row["_id"]: tuple(row["backup"][name] for name in NAMES) for row in rows}


@pytest.fixture
def expected() -> dict[str, tuple[Any, ...]]:
    return {name: state for name, (_, _, state) in STATES.items()}


async def test_every_device_gets_the_state_that_it_had(
    indexed: Database, expected: dict[str, tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.network.configs.backups.legacy_states.PAGE", 2)
    await earlier(indexed)
    rows = await indexed.collection("backup_facts").find({})
    assert await upgraded(indexed) == expected
    assert await indexed.collection("backup_facts").count(NOT_TAKEN) == 0  # the next start reads none
    told = await indexed.collection("devices").find_one({"_id": "told"})
    assert told is not None
    assert told["backup"]["owed"] == REPORT
    # Nodes of the release before find their rows as they were.
    kept = await indexed.collection("backup_facts").find({}, fields={"taken": 0})
    assert sorted(kept, key=_id) == sorted(rows, key=_id)
    # What is noted from then on is not overwritten by another start.
    newer = {"$set": {"backup.at": THREE, "backup.state": "failed", "backup.error": "since"}}
    await indexed.collection("devices").update({"_id": "good"}, newer)
    changed = {**expected, "good": (THREE, "failed", "since", None, ONE, ONE, None)}
    assert await upgraded(indexed) == changed
    # A node of the release before goes on beside this one.
    late = {"last_at": THREE, "error": None, "last_success_at": THREE, "stale_at": None}
    await indexed.collection("backup_facts").update({"_id": "failed"}, {"$set": late})
    before = {"last_at": TWO, "error": "earlier than what is known", "last_success_at": ONE}
    await indexed.collection("backup_facts").update({"_id": "good"}, {"$set": before})
    assert await upgraded(indexed) == {
        **changed,
        "failed": (THREE, "success", None, None, THREE, THREE, None),
    }


async def test_one_that_died_on_the_way_is_finished(
    indexed: Database, expected: dict[str, tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.network.configs.backups.legacy_states.PAGE", 2)
    await earlier(indexed)
    left = 3

    def dies() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await take_over(indexed, ConfigStore(indexed), dies)
    assert await indexed.collection("devices").count({"backup": None}) == len(STATES) - 4
    assert await upgraded(indexed) == expected


def _id(row: dict[str, Any]) -> str:
    return str(row["_id"])
