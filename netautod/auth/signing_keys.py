"""The ring of keys that sign access tokens: made at first start, sealed in `signing_keys`, known by `kid`.

Only the sealed private key is stored and the public one derived from it: who can write into the database
but not open the vault cannot plant a key of his own.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from netautod.clock import Clock
from netautod.errors import Unavailable
from netautod.store.client import Database, Document, Duplicate
from netautod.store.indexes import Index
from netautod.vault.rotation import SealedField
from netautod.vault.vault import INSTALLATION, Vault

COLLECTION = "signing_keys"
FIELD = "private_key"
SIGNING = "signing"
# One key signs; others of the collection only verify. The unique insert decides between two first nodes.
INDEXES = (Index(collection=COLLECTION, keys=(("state", 1),), unique=True, partial={"state": SIGNING}),)
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)
REFRESH_SECONDS = 30.0
"""A key that was removed is trusted this long at most, and a new one signs on all nodes after it."""
UNKNOWN_SECONDS = 1.0
"""Tokens with made-up key ids make the ring read the database this often at most."""


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    kid: str
    signs: bool
    private: Ed25519PrivateKey = field(repr=False)
    public: Ed25519PublicKey = field(repr=False)


class SigningKeys:
    """Made by `await SigningKeys.open(...)`, after the indexes exist."""

    def __init__(self, database: Database, *, vault: Vault, clock: Clock) -> None:
        self._keys = database.collection(COLLECTION)
        self._vault = vault
        self._clock = clock
        self._ring: Mapping[str, SigningKey] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    @classmethod
    async def open(cls, database: Database, *, vault: Vault, clock: Clock) -> Self:
        """Reads the ring; on an empty one makes the first key. Raises VaultError if a key does not open."""
        keys = cls(database, vault=vault, clock=clock)
        await keys._read()
        if not any(key.signs for key in keys._ring.values()):
            with contextlib.suppress(Duplicate):  # another node made it: its key is read below
                await keys._make()
            await keys._read()
        return keys

    async def signing(self) -> SigningKey:
        """The key for new tokens; Unavailable in the moment in which a rotation replaces it."""
        for age in (REFRESH_SECONDS, UNKNOWN_SECONDS):
            await self._no_older_than(age)
            for key in self._ring.values():
                if key.signs:
                    return key
        raise Unavailable("The key that signs access tokens is being replaced; try again in a moment")

    async def find(self, kid: str) -> SigningKey | None:
        """The key of that id if the ring has it."""
        await self._no_older_than(REFRESH_SECONDS if kid in self._ring else UNKNOWN_SECONDS)
        return self._ring.get(kid)

    async def _no_older_than(self, seconds: float) -> None:
        if self._age() < seconds:
            return
        async with self._reading:
            if self._age() >= seconds:  # else somebody read while we waited
                await self._read()

    def _age(self) -> float:
        return self._clock.monotonic() - self._read_at

    async def _read(self) -> None:
        started = self._clock.monotonic()
        documents = await self._keys.find({})
        known = self._ring
        self._ring = {
            document["_id"]: await self._opened(document, known.get(document["_id"]))
            for document in documents
        }
        self._read_at = started

    async def _opened(self, document: Document, known: SigningKey | None) -> SigningKey:
        signs = document["state"] == SIGNING
        if known is not None and known.signs == signs:
            return known
        raw = await self._vault.unseal(INSTALLATION, COLLECTION, document["_id"], FIELD, document[FIELD])
        private = Ed25519PrivateKey.from_private_bytes(raw)
        return SigningKey(kid=document["_id"], signs=signs, private=private, public=private.public_key())

    async def _make(self) -> None:
        kid = str(uuid4())
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        sealed = await self._vault.seal(INSTALLATION, COLLECTION, kid, FIELD, raw)
        await self._keys.insert(
            {"_id": kid, "state": SIGNING, FIELD: sealed, "created_at": self._clock.now()}
        )
