"""The notes vault of each organization as a document, every change of it one atomic update.

`{_id: org_id, open, unlocked_until, passphrase}`. `open` is the notes key sealed under the organization key:
it is there while the vault is unlocked and gone while it is locked, on every node at once. `passphrase` is
the same key under the passphrase, null until one is set.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.documents.notes.models import VaultState
from netautod.documents.notes.passphrases import PassphraseWrap
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "notes_vaults"
OPEN = "open"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=OPEN),)
INDEXES = (
    Index(
        collection=COLLECTION,
        keys=(("unlocked_until", 1),),
        partial={"unlocked_until": {"$type": "date"}},
    ),
)


class NotesVaultStore:
    def __init__(self, database: Database) -> None:
        self._vaults = scoped(database, COLLECTION)
        self._all = database.collection(COLLECTION)

    async def unlocked(self, now: datetime) -> int:
        """Count the organizations whose vaults are unlocked; there is one document for each organization."""
        in_time = {"$or": [{"unlocked_until": None}, {"unlocked_until": {"$gt": now}}]}
        return await self._all.count({OPEN: {"$ne": None}, **in_time})

    async def get(self, org_id: OrgId) -> VaultState | None:
        found = await self._vaults.find_one(org_id, {"_id": org_id})
        return None if found is None else _state(found)

    async def create(self, org_id: OrgId, open_key: Mapping[str, Any]) -> None:
        """Create the first key of an organization; if another request was faster, its key stays."""
        document = {"_id": org_id, OPEN: open_key, "unlocked_until": None, "passphrase": None}
        try:
            await self._vaults.insert(org_id, document)
        except Duplicate:
            return

    async def set_passphrase(
        self, org_id: OrgId, old: PassphraseWrap | None, new: PassphraseWrap, unlocked_until: datetime | None
    ) -> bool:
        """Store the passphrase by compare-and-set on the old one; the first one also starts the auto-lock's
        time.
        """
        change: Document = {"passphrase": new.to_document()}
        if old is None:
            change["unlocked_until"] = unlocked_until
        return await self._vaults.update(org_id, _with(org_id, old), {"$set": change})

    async def unlock(
        self, org_id: OrgId, passphrase: PassphraseWrap, open_key: Mapping[str, Any], until: datetime | None
    ) -> bool:
        """Store the open key; return False if the passphrase was changed meanwhile."""
        change = {"$set": {OPEN: open_key, "unlocked_until": until}}
        return await self._vaults.update(org_id, _with(org_id, passphrase), change)

    async def lock(self, org_id: OrgId) -> bool:
        """Remove the open key; return False if there is no passphrase that could bring it back."""
        return await self._vaults.update(org_id, {"_id": org_id, "passphrase": {"$ne": None}}, _LOCK)

    async def forget(self, org_id: OrgId) -> bool:
        """Remove the keys under the passphrase; the next use makes new ones, without a passphrase."""
        return await self._vaults.delete(org_id, {"_id": org_id, "passphrase": {"$ne": None}})

    async def lock_all(self) -> int:
        """Remove the open keys of all organizations that have a passphrase; return how many have."""
        return await self._all.update_many({"passphrase": {"$ne": None}}, _LOCK)

    async def lock_expired(self, now: datetime) -> int:
        """Remove the open keys whose time is over, of all organizations."""
        expired = {"unlocked_until": {"$lte": now}, "passphrase": {"$ne": None}}
        return await self._all.update_many(expired, _LOCK)


_LOCK = {"$unset": {OPEN: ""}, "$set": {"unlocked_until": None}}


def _with(org_id: OrgId, passphrase: PassphraseWrap | None) -> Document:
    box = {"passphrase": None} if passphrase is None else {"passphrase.box": passphrase.box}
    return {"_id": org_id, **box}


def _state(document: Document) -> VaultState:
    wrap = document["passphrase"]
    return VaultState(
        open_key=document.get(OPEN),
        unlocked_until=document["unlocked_until"],
        passphrase=None if wrap is None else PassphraseWrap.from_document(wrap),
    )
