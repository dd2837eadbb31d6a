"""An installation with something in every collection, and a place to restore its backup into."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database as RawDatabase

from netautod.assembly.installation import open_installation
from netautod.assembly.settings import Settings
from netautod.maintenance.archive.collections import KEPT, LEFT_OUT, SETTLED
from netautod.maintenance.archive.file.records import Contents
from netautod.maintenance.archive.restore import Restored, restore
from netautod.store.client import Database
from netautod.store.migrations.restore_marker import COLLECTION as MARKER
from netautod.store.settings import MongoDBSettings

NOW = datetime.now(UTC).replace(microsecond=0)
SOON = NOW + timedelta(hours=1)
# Their documents are made by the start of the installation, and others would be in its way.
OWN = {"organizations", "vault_roots", "audit_chains", "users", "roles", "migrations", MARKER}
Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A database with a data folder, as `settings` name them; `raw` is the database."""

    settings: Settings
    database: Database
    raw: RawDatabase[Document]

    @property
    def key_file(self) -> Path:
        return self.settings.data_dir / "master.key"

    async def restore(self, file: Path, passphrase: str | None = None) -> Restored:
        return await restore(self.settings, file, passphrase)

    def documents(self, collection: str) -> list[Document]:
        return list(self.raw[collection].find({}, sort=[("_id", 1)]))

    def all(self) -> dict[str, list[Document]]:
        return {name: self.documents(name) for name in sorted(self.raw.list_collection_names())}

    def indexes(self) -> dict[str, Any]:
        return {
            name: {index: {**about, "v": None} for index, about in self.raw[name].index_information().items()}
            for name in self.raw.list_collection_names()
        }


def place(uri: str, database: Database, folder: Path, client: MongoClient[Document]) -> Place:
    folder.mkdir(mode=0o700, exist_ok=True)
    settings = Settings(data_dir=folder, mongodb=MongoDBSettings(uri=uri, database=database.name))
    return Place(settings=settings, database=database, raw=client[database.name])


async def fill(origin: Place) -> None:
    """A first start, and then a document, or what it takes, in every collection."""
    async with open_installation(origin.settings, origin.database) as installation:
        org = await installation.people.organizations.default_id()
    for name in {*KEPT, *SETTLED, *LEFT_OUT} - OWN:
        origin.raw[name].insert_one({"_id": f"a stranger in {name}", "org_id": org, "text": name})
    for state in ("pending", "running", "approval_pending", "completed"):
        origin.raw.executions.insert_one(execution(org, state))
    origin.raw.sessions.insert_many(
        [session(org, "living"), session(org, "over", ended_at=NOW), session(org, "expired", expires_at=NOW)]
    )
    origin.raw.polls.insert_many(
        [
            {"_id": state, "org_id": org, "device_id": "d", "state": state, "open": True}
            for state in ("queued", "running")
        ]
    )
    told = [{"id": "e", "kind": "neighbor_lost"}]
    origin.raw.discovered.insert_one({"_id": "d", "org_id": org, "untold": told, "untold_at": NOW})
    origin.raw.notes_vaults.insert_many(
        [
            {"_id": "with", "org_id": "1", "open": {"wrapped": b"k"}, "passphrase": {"box": b"b"}},
            {"_id": "without", "org_id": "2", "open": {"wrapped": b"k"}, "passphrase": None},
        ]
    )
    origin.raw.pauses.insert_one({"_id": "another", "reason": "as it was", "by": "ann", "at": NOW})


def execution(org: str, state: str) -> Document:
    running = {"number": 1, "started_at": NOW, "node": "n"} if state == "running" else None
    return {
        "_id": state,
        "org_id": org,
        "task_id": f"of {state}",
        "state": state,
        "attempts": [],
        "attempt": running,
        "owner": "n" if running else None,
        "epoch": 1,
        "closing": None,
        "lease_until": SOON if running else None,
        "holds_task": bool(running),
        "created_at": NOW,
    }


def session(org: str, name: str, **changes: Any) -> Document:
    return {"_id": name, "org_id": org, "user_id": "u", "ended_at": None, "expires_at": SOON, **changes}


def elsewhere(made: Place, **changes: Any) -> Place:
    return replace(made, settings=replace(made.settings, **changes))


def of_contents(contents: Contents, collection: str) -> int:
    return contents.collections[collection].documents
