"""The wrapped keys of one organization as a value, and the collection that holds them.

One document per organization, always changed as a whole by compare-and-set on `revision`:
`{_id: org_id, ready, revision, newest, roots: [1], rotation, keys: {"<version>": {"<root version>": box}}}`.
Version 0 is the derivation secret, which stays the same for ever; 1 and up wrap record keys.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import Place, close_box, new_key, open_box
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root.store import HeldRoots
from netautod.store.client import Database, Document

COLLECTION = "vault_keys"
DERIVATION = 0

ROOT_REPLACED = "The root key of this node was replaced: restart it with the new key file"

Wraps = Mapping[int, bytes]
"""The boxes of one key, by the root version that opens each."""


@dataclass(frozen=True, kw_only=True)
class OrganizationKeys:
    """The keys of an organization.

    `roots` are the root versions that new wraps may use; `ready` is false until a root was re-checked.
    `rotation` is the one that created the newest key, None for the first.
    """

    org_id: OrgId
    ready: bool
    revision: str
    newest: int
    roots: frozenset[int]
    keys: Mapping[int, Wraps]
    rotation: str | None = None

    @classmethod
    def fresh(cls, org_id: OrgId, roots: HeldRoots) -> Self:
        """Create a derivation secret and key version 1, wrapped under all of `roots`."""
        keys = {version: _wrapped(org_id, version, new_key(), roots) for version in (DERIVATION, 1)}
        return cls(
            org_id=org_id, ready=False, revision=_revision(), newest=1, roots=frozenset(roots), keys=keys
        )

    @classmethod
    def from_document(cls, document: Document) -> Self:
        return cls(
            org_id=OrgId(document["_id"]),
            ready=document["ready"],
            revision=document["revision"],
            newest=document["newest"],
            roots=frozenset(document["roots"]),
            rotation=document.get("rotation"),
            keys={
                int(version): {int(root): box for root, box in wraps.items()}
                for version, wraps in document["keys"].items()
            },
        )

    def to_document(self) -> Document:
        return {
            "_id": self.org_id,
            "ready": self.ready,
            "revision": self.revision,
            "newest": self.newest,
            "roots": sorted(self.roots),
            "rotation": self.rotation,
            "keys": {
                str(version): {str(root): box for root, box in wraps.items()}
                for version, wraps in self.keys.items()
            },
        }

    def opened(self, version: int, held: HeldRoots) -> bytes:
        """Return the key itself; VaultError if no held root key opens it."""
        for root, box in self.keys[version].items():
            if root in held:
                return open_box(held[root], box, _place(self.org_id, version).associated_data(root))
        raise VaultError(ROOT_REPLACED)

    def with_new_version(self, held: HeldRoots, rotation: str | None = None) -> Self:
        usable = {root: held[root] for root in self.roots if root in held}
        if not usable:
            raise VaultError(ROOT_REPLACED)
        version = self.newest + 1
        added = {version: _wrapped(self.org_id, version, new_key(), usable)}
        keys = {**self.keys, **added}
        return replace(self, revision=_revision(), newest=version, keys=keys, rotation=rotation)

    def with_active_roots(self, roots: frozenset[int]) -> Self:
        """Return the keys ready for use, under those of their roots that are still active."""
        keys = {
            version: {root: box for root, box in wraps.items() if root in roots}
            for version, wraps in self.keys.items()
        }
        return replace(self, ready=True, revision=_revision(), roots=roots, keys=keys)

    def with_root(self, root: int, held: HeldRoots) -> Self:
        """Return every key wrapped under `root` as well."""
        keys = {
            version: {**wraps, **self._under(root, version, held)} for version, wraps in self.keys.items()
        }
        return replace(self, revision=_revision(), roots=self.roots | {root}, keys=keys)

    def only_root(self, root: int, held: HeldRoots) -> Self:
        """Return every key wrapped under `root` alone."""
        keys = {version: self._under(root, version, held) for version in self.keys}
        return replace(self, revision=_revision(), roots=frozenset({root}), keys=keys)

    def _under(self, root: int, version: int, held: HeldRoots) -> Wraps:
        return _wrapped(self.org_id, version, self.opened(version, held), {root: held[root]})


def _revision() -> str:
    return os.urandom(12).hex()


def _place(org_id: OrgId, version: int) -> Place:
    return Place(org_id=org_id, collection=COLLECTION, record=str(version), field="key")


def _wrapped(org_id: OrgId, version: int, key: bytes, roots: HeldRoots) -> Wraps:
    place = _place(org_id, version)
    return {root: close_box(secret, key, place.associated_data(root)) for root, secret in roots.items()}


class KeyStore:
    """The documents of COLLECTION."""

    def __init__(self, database: Database) -> None:
        self._documents = database.collection(COLLECTION)

    async def any(self) -> bool:
        return await self._documents.find_one({}, fields={"_id": 1}) is not None

    async def find(self, org_id: OrgId) -> OrganizationKeys | None:
        document = await self._documents.find_one({"_id": org_id})
        return None if document is None else OrganizationKeys.from_document(document)

    async def newest_versions(self) -> dict[OrgId, int]:
        found = await self._documents.find({"ready": True}, fields={"newest": 1}, sort=[("_id", 1)])
        return {OrgId(document["_id"]): document["newest"] for document in found}

    async def insert(self, keys: OrganizationKeys) -> bool:
        """Insert the keys; return false if the organization has keys already."""
        try:
            await self._documents.insert(keys.to_document())
        except Duplicate:
            return False
        return True

    async def swap(self, old: OrganizationKeys, new: OrganizationKeys) -> bool:
        """Compare and set on the revision; return false if another node changed the document meanwhile."""
        change = new.to_document()
        change.pop("_id")
        return await self._documents.update({"_id": old.org_id, "revision": old.revision}, {"$set": change})

    async def remove_unready(self, keys: OrganizationKeys) -> None:
        await self._documents.delete({"_id": keys.org_id, "revision": keys.revision, "ready": False})

    async def without_root(self, root: int, *, limit: int = 100) -> list[OrganizationKeys]:
        """Return some of the keys that have no wrap under `root` yet."""
        return await self._some({"roots": {"$ne": root}}, limit)

    async def with_other_roots(self, root: int, *, limit: int = 100) -> list[OrganizationKeys]:
        """Return some of the keys that are not under `root` alone."""
        return await self._some({"roots": {"$ne": [root]}}, limit)

    async def _some(self, where: Document, limit: int) -> list[OrganizationKeys]:
        found = await self._documents.find(where, limit=limit)
        return [OrganizationKeys.from_document(document) for document in found]
