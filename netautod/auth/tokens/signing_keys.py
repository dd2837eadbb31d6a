"""The ring of keys that sign access tokens: made at first start, sealed in `signing_keys`, known by `kid`.

Only the sealed private key is stored and the public one derived from it: who can write into the database
but not open the vault cannot plant a key of his own.

A rotation is one insert: the next generation, which signs from a moment on when every node has read it.
Until the last token of the older ones has expired they verify; then any node deletes them.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Unavailable
from netautod.store.client import Database, Document, Duplicate
from netautod.store.indexes import Index
from netautod.vault.rotation import SealedField
from netautod.vault.vault import INSTALLATION, Vault

COLLECTION = "signing_keys"
FIELD = "private_key"
# The unique insert decides between two first nodes, and between two rotations at once.
INDEXES = (Index(collection=COLLECTION, keys=(("generation", 1),), unique=True),)
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)
REFRESH_SECONDS = 30.0
"""A key that was removed is trusted this long at most."""
UNKNOWN_SECONDS = 1.0
"""Tokens with made-up key ids make the ring read the database this often at most."""
PUBLISHED = timedelta(seconds=2 * REFRESH_SECONDS)
"""So long before it signs a new key is there to be read by all nodes."""
CLOCK_SKEW = timedelta(seconds=60)
UNDER_WAY = "A rotation is under way: its new key does not sign yet"


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    """`signs_from`: its tokens are issued from then on. `alone_from`: older keys are not needed any more."""

    kid: str
    generation: int
    signs_from: datetime
    alone_from: datetime
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
        if not keys._ring:
            now = clock.now()
            with contextlib.suppress(Duplicate):  # another node made it: its key is read below
                await keys._make(1, signs_from=now, alone_from=now)
            await keys._read()
        return keys

    async def signing(self) -> SigningKey:
        """The key for new tokens."""
        await self._no_older_than(REFRESH_SECONDS)
        if not self._ring:
            raise Unavailable("There is no key to sign access tokens with; start the service again")
        now = self._clock.now()
        # None signs yet only if the node that made the first key has a clock ahead of ours.
        first = min(self._ring.values(), key=_generation)
        return max(
            (key for key in self._ring.values() if key.signs_from <= now), key=_generation, default=first
        )

    async def find(self, kid: str) -> SigningKey | None:
        """The key of that id if the ring has it."""
        await self._no_older_than(REFRESH_SECONDS if kid in self._ring else UNKNOWN_SECONDS)
        return self._ring.get(kid)

    async def rotate(self, *, token_lifetime: timedelta) -> SigningKey:
        """The next key. `token_lifetime`: of access tokens, so long the older keys go on to verify.

        Raises Conflict while the last rotation's key does not sign yet.
        """
        await self._read()
        now = self._clock.now()
        newest = max(self._ring.values(), key=_generation)
        if newest.signs_from > now:
            raise Conflict(UNDER_WAY)
        signs_from = now + PUBLISHED
        alone_from = signs_from + token_lifetime + CLOCK_SKEW
        try:
            kid = await self._make(newest.generation + 1, signs_from=signs_from, alone_from=alone_from)
        except Duplicate as error:
            raise Conflict(UNDER_WAY) from error
        await self._read()
        return self._ring[kid]

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
        documents = await self._without_needless(await self._keys.find({}))
        known = self._ring
        self._ring = {
            document["_id"]: known.get(document["_id"]) or await self._opened(document)
            for document in documents
        }
        self._read_at = started

    async def _without_needless(self, documents: list[Document]) -> list[Document]:
        """Whoever reads first after the last token of a key has expired deletes it."""
        now = self._clock.now()
        alone = max((row["generation"] for row in documents if row["alone_from"] <= now), default=0)
        kept = [row for row in documents if row["generation"] >= alone]
        if len(kept) < len(documents):
            await self._keys.delete_many({"generation": {"$lt": alone}})
        return kept

    async def _opened(self, document: Document) -> SigningKey:
        raw = await self._vault.unseal(INSTALLATION, COLLECTION, document["_id"], FIELD, document[FIELD])
        private = Ed25519PrivateKey.from_private_bytes(raw)
        return SigningKey(
            kid=document["_id"],
            generation=document["generation"],
            signs_from=document["signs_from"],
            alone_from=document["alone_from"],
            private=private,
            public=private.public_key(),
        )

    async def _make(self, generation: int, *, signs_from: datetime, alone_from: datetime) -> str:
        kid = str(uuid4())
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        sealed = await self._vault.seal(INSTALLATION, COLLECTION, kid, FIELD, raw)
        await self._keys.insert(
            {
                "_id": kid,
                "generation": generation,
                FIELD: sealed,
                "signs_from": signs_from,
                "alone_from": alone_from,
                "created_at": self._clock.now(),
            }
        )
        return kid


def _generation(key: SigningKey) -> int:
    return key.generation
