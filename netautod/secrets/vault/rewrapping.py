"""Re-wrapping of record keys to the newest organization key: online, resumable, never losing a write.

Only the small wrapped key of a sealed value is read and replaced, by compare-and-set on that very value: a
concurrent write brings its own wrapped key and wins. Progress is kept after every batch; after a crash the
next call goes on there, unless an organization key was rotated since, then it starts over.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import CANNOT_OPEN, Place, SealedField
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.organization_keys import KeyStore
from netautod.secrets.vault.vault import INSTALLATION, Vault
from netautod.store.client import Collection, Database, Document

logger = logging.getLogger(__name__)

PROGRESS_COLLECTION = "vault_progress"
BATCH = 200


@dataclass(frozen=True, kw_only=True)
class RewrapResult:
    """The result of a rewrap. `overtaken` were replaced by a concurrent write; `failed` do not open (logged,
    left as they are).
    """

    rewrapped: int = 0
    overtaken: int = 0
    failed: int = 0

    def plus(self, other: "RewrapResult") -> "RewrapResult":
        return RewrapResult(
            rewrapped=self.rewrapped + other.rewrapped,
            overtaken=self.overtaken + other.overtaken,
            failed=self.failed + other.failed,
        )


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    id: Any
    place: Place
    key_version: int
    wrapped: bytes = field(repr=False)


async def rewrap(
    vault: Vault, database: Database, fields: Sequence[SealedField], *, batch: int = BATCH
) -> RewrapResult:
    """Bring every sealed value of `fields` under its organization's newest key.

    The result counts this call's work only. A node that has not yet noticed a rotation (30 s) may seal a few
    more values under the older version; they open as before, and the next rewrap takes them.
    """
    newest = await KeyStore(database).newest_versions()
    vault.refresh()
    result = RewrapResult()
    for sealed_field in fields:
        work = _FieldWork(vault, database, sealed_field, newest)
        result = result.plus(await work.run(batch))
    return result


class _FieldWork:
    """A pass over one field."""

    def __init__(
        self, vault: Vault, database: Database, sealed_field: SealedField, newest: dict[OrgId, int]
    ) -> None:
        self._vault = vault
        self._field = sealed_field
        self._newest = newest
        self._documents: Collection = database.collection(sealed_field.collection)
        self._progress = database.collection(PROGRESS_COLLECTION)
        self._progress_id = f"rewrap|{sealed_field.collection}|{sealed_field.path}"
        self._target = hashlib.sha256(repr(sorted(newest.items())).encode()).hexdigest()

    async def run(self, batch: int) -> RewrapResult:
        result = RewrapResult()
        where: Document = {f"{self._field.path}.wrapped": {"$exists": True}, **await self._resume()}
        while documents := await self._documents.find(
            where, fields=self._projection(), sort=[("_id", 1)], limit=batch
        ):
            for document in documents:
                result = result.plus(await self._one(document))
            last = documents[-1]["_id"]
            await self._save_progress(last)
            where["_id"] = {"$gt": last}
        await self._progress.delete({"_id": self._progress_id})
        return result

    def _projection(self) -> Document:
        path = self._field.path
        return {"org_id": 1, f"{path}.key_version": 1, f"{path}.wrapped": 1}

    async def _resume(self) -> Document:
        saved = await self._progress.find_one({"_id": self._progress_id, "target": self._target})
        return {} if saved is None else {"_id": {"$gt": saved["after"]}}

    async def _save_progress(self, last: Any) -> None:
        change = {"$set": {"target": self._target, "after": last}}
        await self._progress.update({"_id": self._progress_id}, change, upsert=True)

    async def _one(self, document: Document) -> RewrapResult:
        try:
            candidate = self._candidate(document)
            if candidate is None:
                return RewrapResult()
            version, wrapped = await self._vault.rewrapped(
                candidate.place, candidate.key_version, candidate.wrapped
            )
        except VaultError:
            where = (self._field.path, self._field.collection, document["_id"])
            logger.error("%s of %s %s does not open and is left as it is", *where)
            return RewrapResult(failed=1)
        path = self._field.path
        unchanged = {"_id": candidate.id, f"{path}.wrapped": candidate.wrapped}
        change = {"$set": {f"{path}.key_version": version, f"{path}.wrapped": wrapped}}
        if await self._documents.update(unchanged, change):
            return RewrapResult(rewrapped=1)
        return RewrapResult(overtaken=1)

    def _candidate(self, document: Document) -> _Candidate | None:
        """Return the value to rewrap, or None if it is under the newest key already."""
        org_id = OrgId(document.get("org_id", INSTALLATION))
        value = document
        for name in self._field.path.split("."):
            value = value[name]
        version, wrapped = value.get("key_version"), value["wrapped"]
        if type(version) is not int or not isinstance(wrapped, bytes):
            raise VaultError(CANNOT_OPEN)
        if version >= self._newest.get(org_id, version + 1):
            return None
        place = Place(
            org_id=org_id,
            collection=self._field.collection,
            record=str(document["_id"]),
            field=self._field.path,
        )
        return _Candidate(id=document["_id"], place=place, key_version=version, wrapped=wrapped)
