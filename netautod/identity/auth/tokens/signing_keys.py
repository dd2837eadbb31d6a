"""The ring of keys that sign access tokens: created at first start, sealed in `signing_keys`, known by `kid`.

Only the sealed private key is stored and the public one derived from it: an attacker who can write into the
database but not open the vault cannot plant a key.

A rotation is one insert: the next generation, which signs from a moment on when every node has read it. Until
the last token of the older ones has expired they verify; then any node deletes them.
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
from netautod.core.errors import Conflict, Duplicate, Unavailable
from netautod.identity.auth.models import StoredSigningKey
from netautod.identity.auth.tokens.store import FIELD, SIGNING_KEYS, SigningKeyStore
from netautod.secrets.vault.vault import INSTALLATION, Vault

REFRESH_SECONDS = 30.0
"""A key that was removed is trusted this long at most."""
UNKNOWN_SECONDS = 1.0
"""Tokens with made-up key ids make the ring read the database this often at most."""
PUBLISHED = timedelta(seconds=2 * REFRESH_SECONDS)
"""A new key is stored this long before it signs, so that all nodes have read it by then."""
CLOCK_SKEW = timedelta(seconds=60)
UNDER_WAY = "A rotation is under way: its new key does not sign yet"


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    """An opened key. `generation`, `signs_from` and `alone_from` as stored."""

    kid: str
    generation: int
    signs_from: datetime
    alone_from: datetime
    private: Ed25519PrivateKey = field(repr=False)
    public: Ed25519PublicKey = field(repr=False)


class SigningKeys:
    """The ring, built by `await SigningKeys.open(...)`, after the indexes exist."""

    def __init__(self, *, store: SigningKeyStore, vault: Vault, clock: Clock) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        self._ring: Mapping[str, SigningKey] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    @classmethod
    async def open(cls, *, store: SigningKeyStore, vault: Vault, clock: Clock) -> Self:
        """Read the ring; create the first key of an empty one. Raises VaultError if a key does not open."""
        keys = cls(store=store, vault=vault, clock=clock)
        await keys._read()
        if not keys._ring:
            now = clock.now()
            with contextlib.suppress(Duplicate):  # another node created it: its key is read below
                await keys._make(1, signs_from=now, alone_from=now)
            await keys._read()
        return keys

    async def signing(self) -> SigningKey:
        """Return the key for new tokens."""
        await self._no_older_than(REFRESH_SECONDS)
        if not self._ring:
            raise Unavailable("There is no key to sign access tokens with; start the service again")
        now = self._clock.now()
        # No key signs yet only if the clock of the node that created the first one is ahead of ours.
        first = min(self._ring.values(), key=_generation)
        return max(
            (key for key in self._ring.values() if key.signs_from <= now), key=_generation, default=first
        )

    async def find(self, kid: str) -> SigningKey | None:
        """Return the key of that id if the ring has it."""
        await self._no_older_than(REFRESH_SECONDS if kid in self._ring else UNKNOWN_SECONDS)
        return self._ring.get(kid)

    async def rotate(self, *, token_lifetime: timedelta) -> SigningKey:
        """Create the next key. `token_lifetime`: of access tokens; the older keys verify that long.

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
            if self._age() >= seconds:  # else another request read while this one waited
                await self._read()

    def _age(self) -> float:
        return self._clock.monotonic() - self._read_at

    async def _read(self) -> None:
        started = self._clock.monotonic()
        stored = await self._without_needless(await self._store.all())
        known = self._ring
        self._ring = {key.kid: known.get(key.kid) or await self._opened(key) for key in stored}
        self._read_at = started

    async def _without_needless(self, stored: list[StoredSigningKey]) -> list[StoredSigningKey]:
        """Return the keys that are still needed; the first node that reads after a key's last token expired
        deletes it.
        """
        now = self._clock.now()
        alone = max((key.generation for key in stored if key.alone_from <= now), default=0)
        kept = [key for key in stored if key.generation >= alone]
        if len(kept) < len(stored):
            await self._store.delete_before(alone)
        return kept

    async def _opened(self, stored: StoredSigningKey) -> SigningKey:
        raw = await self._vault.unseal(INSTALLATION, SIGNING_KEYS, stored.kid, FIELD, stored.sealed)
        private = Ed25519PrivateKey.from_private_bytes(raw)
        return SigningKey(
            kid=stored.kid,
            generation=stored.generation,
            signs_from=stored.signs_from,
            alone_from=stored.alone_from,
            private=private,
            public=private.public_key(),
        )

    async def _make(self, generation: int, *, signs_from: datetime, alone_from: datetime) -> str:
        kid = str(uuid4())
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        made = StoredSigningKey(
            kid=kid,
            generation=generation,
            signs_from=signs_from,
            alone_from=alone_from,
            sealed=await self._vault.seal(INSTALLATION, SIGNING_KEYS, kid, FIELD, raw),
        )
        await self._store.insert(made, at=self._clock.now())
        return kid


def _generation(key: SigningKey) -> int:
    return key.generation
