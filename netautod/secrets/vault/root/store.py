"""The check values in the database: which root keys it knows, which of them a given key opens.

One document per root key version: `{_id: version, state, check, made_at}`, while a root rotation runs also
`previous`: the root key before it, wrapped under this one, so that a node with the new key opens everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from netautod.core.clock import Clock
from netautod.core.errors import Duplicate
from netautod.secrets.vault.envelope import FORMAT, close_box, open_box
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root.key_file import SETTING, RootKey
from netautod.store.client import Database, Document

COLLECTION = "vault_roots"
FIRST_VERSION = 1

HeldRoots = Mapping[int, bytes]
"""Root key secrets by version, as far as this node has them."""

_CHECK_TEXT = b"netautod root key"


@dataclass(frozen=True, kw_only=True)
class RootRecord:
    """The record of one root key version in the database; a retired one is refused."""

    version: int
    active: bool
    check: bytes
    previous: bytes | None = None

    @classmethod
    def from_document(cls, document: Document) -> Self:
        return cls(
            version=document["_id"],
            active=document["state"] == "active",
            check=document["check"],
            previous=document.get("previous"),
        )

    def is_opened_by(self, key: RootKey) -> bool:
        try:
            return open_box(key.secret, self.check, _check_data(self.version)) == _CHECK_TEXT
        except VaultError:
            return False


def _check_data(version: int) -> bytes:
    return f"v{FORMAT}|root|{version}|check".encode()


def _previous_data(version: int) -> bytes:
    return f"v{FORMAT}|root|{version}|previous".encode()


def record_of(records: Sequence[RootRecord], key: RootKey) -> RootRecord | None:
    """Return the record whose check value this key opens."""
    return next((record for record in records if record.is_opened_by(key)), None)


def held_by(records: Sequence[RootRecord], key: RootKey) -> HeldRoots:
    """Return the root keys that `key` gives access to; VaultError (one line) if it is wrong or retired."""
    record = record_of(records, key)
    if record is None:
        raise VaultError(
            f"The root key in {key.source} is not the one of this database (nothing was changed): "
            f"set {SETTING} to the right key file"
        )
    if not record.active:
        raise VaultError(
            f"The root key in {key.source} was replaced by a newer one: set {SETTING} to the new key file"
        )
    held = {record.version: key.secret}
    if record.previous is not None:
        held[record.version - 1] = open_box(key.secret, record.previous, _previous_data(record.version))
    return held


class RootStore:
    """The documents of COLLECTION; every change is a single-document one and may be repeated."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._documents = database.collection(COLLECTION)
        self._clock = clock

    async def all(self) -> tuple[RootRecord, ...]:
        """Return all records, oldest first."""
        found = await self._documents.find({}, sort=[("_id", 1)])
        return tuple(RootRecord.from_document(document) for document in found)

    async def active_versions(self) -> frozenset[int]:
        return frozenset(record.version for record in await self.all() if record.active)

    async def add(self, version: int, secret: bytes, *, previous: bytes | None = None) -> bool:
        """Insert the check value; return false if this version exists already (another node was first)."""
        document: Document = {
            "_id": version,
            "state": "active",
            "check": close_box(secret, _CHECK_TEXT, _check_data(version)),
            "made_at": self._clock.now(),
        }
        if previous is not None:
            document["previous"] = close_box(secret, previous, _previous_data(version))
        try:
            await self._documents.insert(document)
        except Duplicate:
            return False
        return True

    async def retire(self, version: int) -> None:
        """Retire the version: from here on its key is refused at start and for new organization keys."""
        change = {"$set": {"state": "retired", "retired_at": self._clock.now()}}
        await self._documents.update({"_id": version, "state": "active"}, change)

    async def forget_previous(self, version: int) -> None:
        await self._documents.update({"_id": version}, {"$unset": {"previous": ""}})
