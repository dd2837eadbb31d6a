"""The vault: seals and opens secrets of organizations; the only entry point for the rest of the service."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from netautod.core.clock import Clock, SystemClock
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault import envelope
from netautod.secrets.vault.envelope import Place, Sealed
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.key_ring import KeyRing
from netautod.secrets.vault.opening import open_roots
from netautod.secrets.vault.organization_keys import DERIVATION, KeyStore
from netautod.secrets.vault.root.store import HeldRoots, RootStore
from netautod.store.client import Database, Document

INSTALLATION = OrgId("installation")
"""The scope of secrets that belong to no organization (token signing keys); no organization has this id."""

MAX_PLAINTEXT_BYTES = 8 << 20
THREAD_BYTES = 256 << 10
"""From here on the work leaves the event loop: AES-GCM and its copies take some ms for 8 MiB."""


class Vault:
    """The vault, opened by `await Vault.open(...)`; it holds no connection of its own and needs no
    closing.
    """

    def __init__(self, *, keys: KeyStore, roots: RootStore, held: HeldRoots, clock: Clock) -> None:
        self._ring = KeyRing(keys, roots, held=held, clock=clock)

    @classmethod
    async def open(
        cls,
        database: Database,
        *,
        data_dir: Path,
        key_file: Path | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """Find the root key (see root.key_file.load_root_key) or, on an empty database, create it.

        From `environ` (os.environ by default) only CREDENTIALS_DIRECTORY is read. Raises VaultError with one
        line for the operator; then nothing has been overwritten.
        """
        clock = clock or SystemClock()
        keys, roots = KeyStore(database), RootStore(database, clock=clock)
        held = await open_roots(roots, keys, data_dir=data_dir, key_file=key_file, environ=environ)
        return cls(keys=keys, roots=roots, held=held, clock=clock)

    async def seal(
        self, org_id: OrgId, collection: str, record: str, field: str, plaintext: bytes
    ) -> Document:
        """Encrypt up to 8 MiB into a subdocument (about 200 bytes more) that opens only at this place.

        `record` is the document's `_id` and `field` the dotted path it is stored under: rewrap relies on it.
        """
        if len(plaintext) > MAX_PLAINTEXT_BYTES:
            raise VaultError(f"A secret is larger than {MAX_PLAINTEXT_BYTES >> 20} MiB")
        place = Place(org_id=org_id, collection=collection, record=record, field=field)
        version, key = await self._ring.newest(org_id)
        if len(plaintext) < THREAD_BYTES:
            sealed = envelope.seal(key, version, place, plaintext)
        else:
            sealed = await asyncio.to_thread(envelope.seal, key, version, place, plaintext)
        return sealed.to_document()

    async def unseal(self, org_id: OrgId, collection: str, record: str, field: str, sealed: Any) -> bytes:
        """Return the plaintext; VaultError if the value was changed, moved, or was never sealed."""
        place = Place(org_id=org_id, collection=collection, record=record, field=field)
        value = Sealed.from_document(sealed)
        key = await self._ring.key(org_id, value.key_version)
        if len(value.data) < THREAD_BYTES:
            return envelope.unseal(key, place, value)
        return await asyncio.to_thread(envelope.unseal, key, place, value)

    async def derived_key(self, org_id: OrgId, purpose: str) -> bytes:
        """Return 32 bytes for keyed hashes, the same for ever per organization and purpose, also after
        rotation.
        """
        await self._ring.newest(org_id)
        return envelope.derived(await self._ring.key(org_id, DERIVATION), org_id, purpose)

    async def rotate_organization_key(self, org_id: OrgId) -> int:
        """Create a key version and return its number; other nodes seal with it within 30 s."""
        return (await self._ring.add_version(org_id))[0]

    async def rotate_once(self, org_id: OrgId, rotation: str) -> tuple[int, bool]:
        """Create a key version once for each `rotation`; return its number and whether this call
        created it.
        """
        return await self._ring.add_version(org_id, rotation)

    async def rewrapped(self, place: Place, key_version: int, wrapped: bytes) -> tuple[int, bytes]:
        """Return the newest key version, and the wrapped record key under it; VaultError if it does
        not open.
        """
        old_key = await self._ring.key(place.org_id, key_version)
        version, key = await self._ring.newest(place.org_id)
        return version, envelope.rewrapped(old_key, key_version, key, version, place, wrapped)

    def refresh(self) -> None:
        """Forget cached keys, so that versions created by other nodes are seen at once."""
        self._ring.forget()
