"""Takes over how backups stand from where earlier releases kept it, beside what is learned of noise.

They had a row for each device: `last_at`, `error`, `last_success_at`, and of the look for stale backups
`watched_from`, `stale_at`, `owed`. The rows stay as they are, for nodes of the release before that run beside
this one. `taken` notes what was taken over of a row, so that what such a node writes is taken at the next
start. What a version says it was seen at counts, too: those nodes wrote the version first.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.work.guard import Guard
from netautod.network.configs.backups.models import UNKNOWN_KIND
from netautod.network.configs.backups.queries import FRESH_AT, REPORTED_AT, UNDELIVERED
from netautod.network.configs.backups.store import noting
from netautod.network.configs.models import Config
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.learned_noise_store import COLLECTION
from netautod.network.devices.records.documents import BACKUP, no_backup
from netautod.network.devices.records.queries import COLLECTION as DEVICES
from netautod.store.client import Database, Document
from netautod.store.leases.lease import NEVER

MARKS = "stale_watch"  # of the same releases: how far their look for stale backups had come
PAGE = 500
NO_BACKUP = {**no_backup(NEVER), "fresh_at": "$created_at"}
TAKEN = {"at": "last_at", "stale_at": "stale_at"}
NOT_TAKEN = {
    "$expr": {
        "$or": [
            {"$ne": [{"$ifNull": [f"${of}", None]}, {"$ifNull": [f"$taken.{name}", None]}]}
            for name, of in TAKEN.items()
        ]
    }
}


async def take_over(database: Database, configs: ConfigStore, guard: Guard) -> None:
    """Give every device a state and take over every row of earlier releases. Idempotent: at the upgrade and
    at every start.
    """
    await _begin_states(database, configs, guard)
    facts, after = database.collection(COLLECTION), ""
    while True:
        guard()
        wanted = {**NOT_TAKEN, "_id": {"$gt": after}}
        rows = await facts.find(wanted, sort=[("_id", 1)], limit=PAGE)
        await _take(database, [(row["_id"], row, _state_stages(row)) for row in rows])
        if len(rows) < PAGE:
            break
        after = rows[-1]["_id"]
    # A node of such a release begins its look anew then, which changes nothing.
    await database.collection(MARKS).delete_many({})


async def _begin_states(database: Database, configs: ConfigStore, guard: Guard) -> None:
    """Give devices of earlier releases, deleted ones too, a state."""
    devices, facts, after = database.collection(DEVICES), database.collection(COLLECTION), ""
    while True:
        guard()
        wanted = {BACKUP: None, "_id": {"$gt": after}}
        found = await devices.find(wanted, fields={"org_id": 1}, sort=[("_id", 1)], limit=PAGE)
        ids = [document["_id"] for document in found]
        rows = {row["_id"]: row for row in await facts.find({"_id": {"$in": ids}})}
        newest = await _newest(configs, found)
        await _take(
            database,
            [
                (
                    document["_id"],
                    rows.get(document["_id"]),
                    [
                        {"$set": {BACKUP: NO_BACKUP}},
                        *_state_stages(rows.get(document["_id"], {})),
                        *_seen(newest.get(document["_id"])),
                    ],
                )
                for document in found
            ],
        )
        if len(found) < PAGE:
            return
        after = ids[-1]


async def _newest(configs: ConfigStore, devices: Iterable[Document]) -> dict[str, Config]:
    newest: dict[str, Config] = {}
    by_owner = sorted(devices, key=_owner)
    for org_id, group in groupby(by_owner, key=_owner):
        newest |= await configs.newest_of(OrgId(org_id), [document["_id"] for document in group])
    return newest


def _owner(document: Document) -> str:
    return str(document["org_id"])


async def _take(
    database: Database, changes: Sequence[tuple[str, Document | None, Sequence[Document]]]
) -> None:
    """Write changes of devices, each with the row that it comes from. The marks are written last."""
    await database.collection(DEVICES).update_batch(
        [({"_id": device_id}, list(stages)) for device_id, _, stages in changes if stages]
    )
    taken = [
        ({"_id": row["_id"]}, {"$set": {"taken": {name: row.get(of) for name, of in TAKEN.items()}}})
        for _, row, _ in changes
        if row is not None
    ]
    await database.collection(COLLECTION).update_batch(taken)


def _state_stages(row: Mapping[str, Any]) -> list[Document]:
    """Return what a row says as the stages of a change."""
    stages: list[Document] = []
    if row.get("last_success_at") is not None:
        stages += noting(row["last_success_at"], error=None, kind=None)
    if row.get("last_at") is not None and row["error"] is not None:
        stages += noting(row["last_at"], error=row["error"], kind=UNKNOWN_KIND)
    if row.get("stale_at") is not None:
        still = {"$lt": [f"${FRESH_AT}", row["stale_at"]]}
        values = {REPORTED_AT: row["stale_at"], UNDELIVERED: row.get("owed")}
        stages.append(
            {
                "$set": {
                    name: {"$cond": [still, {"$literal": value}, f"${name}"]}
                    for name, value in values.items()
                    if value is not None
                }
            }
        )
    return stages


def _seen(newest: Config | None) -> list[Document]:
    at = None if newest is None else newest.captured_at
    return [] if at is None else noting(at, error=None, kind=None)
