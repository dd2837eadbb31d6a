"""The stored texts: compressed, then sealed, each kept once per organization under a keyed hash of itself.

The keys of all hashes are derived per organization, so that neither an id nor a hash lets a person with
the database check a guess of what a configuration says.

A text is marked `loose` while it may be that no version names it: when it is new, since we may die before its
version is written, and when retention deletes its version. Retention looks at the loose ones only.
"""

import hashlib
import hmac
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.work.context import Work
from netautod.network.configs.texts.normalise import normalise
from netautod.network.configs.texts.packing import packed, unpacked
from netautod.network.configs.texts.tokens import key_of_device, keyed_by_device
from netautod.secrets.vault.envelope import SealedField
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.vault import MAX_PLAINTEXT_BYTES, Vault
from netautod.store.batching import batched_inserts
from netautod.store.client import Database
from netautod.store.indexes import Index
from netautod.store.scoped import scoped
from netautod.transport.ssh.encoding import to_bytes
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform

logger = logging.getLogger(__name__)
COLLECTION = "config_texts"
FIELD = "text"
SEALED_FIELDS = (SealedField(collection=COLLECTION, path=FIELD),)
LOOSE = {"loose": {"$gt": ""}}
INDEXES = (Index(collection=COLLECTION, keys=(("touched_at", 1),), partial=LOOSE),)
ATTEMPTS = 10
NOTHING: Mapping[str, str] = MappingProxyType({})
LOST = "The text of this version is no longer stored"


@dataclass(frozen=True, kw_only=True)
class TextKeys:
    """The derived keys of an organization: for ids of texts, for hashes and for the tokens of secrets.

    The tokens of a device are made of those of the organization (tokens.py).
    """

    text: bytes = field(repr=False)
    normalised: bytes = field(repr=False)
    secret: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class RawText:
    """A raw text (it carries the bytes of the device) and what identifies it; `size` in bytes."""

    raw: str = field(repr=False)
    text_id: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Reading(RawText):
    """A configuration; see `measure`."""

    config_hash: str


@dataclass(frozen=True, kw_only=True)
class LooseText:
    """A text without a version. `token` changes whenever the text is loosened anew."""

    org_id: OrgId
    id: str
    token: str


def identified(raw: str, keys: TextKeys) -> RawText:
    """Return the text with its id, a keyed hash of the bytes, so that a text is kept once."""
    data = to_bytes(raw)
    return RawText(raw=raw, text_id=_keyed_hash(keys.text, data), size=len(data))


def measure(
    raw: str, platform: Platform, keys: TextKeys, device_id: str, known: Mapping[str, str] = NOTHING
) -> Reading:
    """Hash a text. `config_hash` is HMAC-SHA256 of the normalised text: equal for readings of a device that
    say the same.

    `known` has the hashes of texts by their ids: what is stored already is not normalised again.
    """
    found = identified(raw, keys)
    config_hash = known.get(found.text_id) or _config_hash(raw, platform, keys, device_id)
    return Reading(raw=raw, text_id=found.text_id, config_hash=config_hash, size=found.size)


class ConfigTexts:
    def __init__(self, database: Database, *, vault: Vault, clock: Clock) -> None:
        self._all = database.collection(COLLECTION)
        self._texts = scoped(database, COLLECTION)
        self._inserts = batched_inserts(self._texts)
        self._vault = vault
        self._clock = clock

    def require_room(self) -> None:
        """Raise DiskFull while no text can be added."""
        self._all.require_room()

    async def keys(self, org_id: OrgId) -> TextKeys:
        return TextKeys(
            text=await self._vault.derived_key(org_id, "config-text"),
            normalised=await self._vault.derived_key(org_id, "config-hash"),
            secret=await self._vault.derived_key(org_id, "config-secret"),
        )

    async def save(
        self,
        work: Work,
        reading: RawText,
    ) -> None:
        """Store the text unless it is stored; DeviceFailed `flood` for one that is too large to be kept.

        A text that exists only gets a new `touched_at`: retention spares texts that were touched lately,
        since the version that will name this one is written a moment later.
        """
        org_id = work.org_id
        data = await in_thread_if_large(len(reading.raw), packed, reading.raw)
        if len(data) > MAX_PLAINTEXT_BYTES:
            raise DeviceFailed(
                f"the configuration is too large to be stored (packed over {MAX_PLAINTEXT_BYTES:,} bytes)",
                kind="flood",
            )
        sealed = await self._vault.seal(org_id, COLLECTION, reading.text_id, FIELD, data)
        for _ in range(ATTEMPTS):
            touch = {"touched_at": self._clock.now()}
            document = {"_id": reading.text_id, FIELD: sealed, "loose": uuid4().hex, **touch}
            try:
                return await self._inserts.ask(org_id, document, work)
            except Duplicate:
                if await self._texts.update(org_id, {"_id": reading.text_id}, {"$set": touch}):
                    return None
            # No version named it, and it was deleted in this very moment.
        raise Conflict("The device's configuration is being stored and deleted by others; try again")

    async def load(self, org_id: OrgId, text_id: str) -> str:
        """Return the text, which carries its bytes; NotFound for a lost one, VaultError for a damaged one."""
        data = await self.load_one_packed(org_id, text_id)
        return await in_thread_if_large(len(data) * 8, unpacked, data)

    async def load_one_packed(self, org_id: OrgId, text_id: str) -> bytes:
        """Return the text as `load` does, but still packed."""
        found = await self._texts.find_one(org_id, {"_id": text_id})
        if found is None:
            raise NotFound(LOST)
        return await self._vault.unseal(org_id, COLLECTION, text_id, FIELD, found[FIELD])

    async def load_packed(self, org_id: OrgId, text_ids: Sequence[str]) -> dict[str, bytes]:
        """Return the compressed texts by id, without those that are lost or damaged (logged)."""
        found = await self._texts.find(org_id, {"_id": {"$in": list(text_ids)}})
        opened: dict[str, bytes] = {}
        for row in found:
            text_id = row["_id"]
            try:
                opened[text_id] = await self._vault.unseal(org_id, COLLECTION, text_id, FIELD, row[FIELD])
            except VaultError as error:
                logger.error("the stored text %s cannot be opened: %s", text_id, error)
        return opened

    async def loosen(self, org_id: OrgId, text_ids: Sequence[str]) -> None:
        """Mark texts as loose, before the versions that name them are deleted: so none is ever forgotten."""
        if text_ids:
            where = {"_id": {"$in": list(text_ids)}}
            await self._texts.update_many(org_id, where, {"$set": {"loose": uuid4().hex}})

    async def loose(self, *, untouched_since: datetime) -> AsyncIterator[LooseText]:
        """Yield loose texts of all organizations that no capture has touched since."""
        where = {**LOOSE, "touched_at": {"$lt": untouched_since}}
        async for row in self._all.stream(where, fields={"org_id": 1, "loose": 1}):
            yield LooseText(org_id=OrgId(row["org_id"]), id=row["_id"], token=row["loose"])

    async def mark_named(self, text: LooseText) -> None:
        """Remove the mark of a text that a version names, unless it was loosened again meanwhile."""
        where = {"_id": text.id, "loose": text.token}
        await self._texts.update(text.org_id, where, {"$unset": {"loose": ""}})

    async def discard(self, text: LooseText, *, untouched_since: datetime) -> bool:
        """Delete a text that no version names, unless a capture has touched it meanwhile."""
        where = {"_id": text.id, "loose": text.token, "touched_at": {"$lt": untouched_since}}
        return await self._texts.delete(text.org_id, where)


def _config_hash(raw: str, platform: Platform, keys: TextKeys, device_id: str) -> str:
    normal = normalise(raw, platform, keys.secret)
    own = keyed_by_device(normal, key_of_device(keys.secret, device_id))
    return _keyed_hash(keys.normalised, to_bytes(own))


def _keyed_hash(key: bytes, data: bytes) -> str:
    return hmac.new(key, data, hashlib.sha256).hexdigest()
