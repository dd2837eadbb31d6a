"""The stored texts: compressed, then sealed, each kept once per organization under a keyed hash of itself.

The keys of all hashes are derived per organization, so that neither an id nor a hash lets somebody with
the database check a guess of what a configuration says.
"""

import hashlib
import hmac
from dataclasses import dataclass, field

import zstandard

from netautod.clock import Clock
from netautod.configs.normalise import normalise
from netautod.configs.offload import sized
from netautod.errors import NotFound
from netautod.ssh.failures import DeviceFailure
from netautod.ssh.platform_model import Platform
from netautod.store.client import Database, Duplicate, OrgId
from netautod.vault.rotation import SealedField
from netautod.vault.vault import MAX_PLAINTEXT_BYTES, Vault

COLLECTION = "config_texts"
FIELD = "text"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)
# 30 KB of a switch take about 1 ms and become a tenth; higher levels cost much and gain little.
LEVEL = 9


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The derived keys of an organization: for ids of texts, for hashes and for the tokens of secrets."""

    text: bytes = field(repr=False)
    normalised: bytes = field(repr=False)
    secret: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A raw text and what identifies it; `size` in bytes."""

    raw: str = field(repr=False)
    text_id: str
    config_hash: str
    size: int


def measure(raw: str, platform: Platform, keys: Keys) -> Reading:
    """`config_hash` is HMAC-SHA256 of the normalised text: equal for readings that say the same."""
    data = raw.encode()
    normalised = normalise(raw, platform, keys.secret)
    return Reading(
        raw=raw,
        text_id=_keyed_hash(keys.text, data),
        config_hash=_keyed_hash(keys.normalised, normalised.encode()),
        size=len(data),
    )


class ConfigTexts:
    def __init__(self, database: Database, *, vault: Vault, clock: Clock) -> None:
        self._texts = database.scoped(COLLECTION)
        self._vault = vault
        self._clock = clock

    async def keys(self, org_id: OrgId) -> Keys:
        return Keys(
            text=await self._vault.derived_key(org_id, "config-text"),
            normalised=await self._vault.derived_key(org_id, "config-hash"),
            secret=await self._vault.derived_key(org_id, "config-secret"),
        )

    async def save(self, org_id: OrgId, reading: Reading) -> None:
        """Makes sure that the text is stored; DeviceFailure `flood` for one that is too large to be kept.

        A text that is there only gets a new `touched_at`: who deletes unnamed texts spares the touched ones,
        since the version that will name this one is written a moment later.
        """
        touch = {"$set": {"touched_at": self._clock.now()}}
        if await self._texts.update(org_id, {"_id": reading.text_id}, touch):
            return
        packed = await sized(len(reading.raw), _packed, reading.raw)
        if len(packed) > MAX_PLAINTEXT_BYTES:
            raise DeviceFailure(
                "flood", f"the configuration is too large to be stored ({reading.size} bytes)"
            )
        sealed = await self._vault.seal(org_id, COLLECTION, reading.text_id, FIELD, packed)
        document = {"_id": reading.text_id, FIELD: sealed, **touch["$set"]}
        try:
            await self._texts.insert(org_id, document)
        except Duplicate:
            return  # another capture of the same text was faster

    async def load(self, org_id: OrgId, text_id: str) -> str:
        found = await self._texts.find_one(org_id, {"_id": text_id})
        if found is None:
            raise NotFound("The text of this version is no longer stored")
        packed = await self._vault.unseal(org_id, COLLECTION, text_id, FIELD, found[FIELD])
        return await sized(len(packed) * 8, _unpacked, packed)


def _keyed_hash(key: bytes, data: bytes) -> str:
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def _packed(text: str) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL).compress(text.encode())


def _unpacked(packed: bytes) -> str:
    return zstandard.ZstdDecompressor().decompress(packed).decode()
