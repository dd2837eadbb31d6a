"""The notes key under a passphrase: Argon2id stretches the passphrase, AES-256-GCM wraps the key.

The parameters of the stretching are stored beside each wrapped key.
"""

import asyncio
import os
from dataclasses import dataclass, field
from typing import Any, Self

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import Place, close_box, open_box
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.passphrase import LANES, MEMORY_KIB, PASSES, SALT_BYTES, passphrase_key

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class PassphraseWrap:
    """A notes key that only the passphrase opens."""

    salt: bytes
    memory_kib: int
    passes: int
    lanes: int
    box: bytes = field(repr=False)

    def to_document(self) -> dict[str, Any]:
        return {
            "salt": self.salt,
            "memory_kib": self.memory_kib,
            "passes": self.passes,
            "lanes": self.lanes,
            "box": self.box,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        return cls(
            salt=document["salt"],
            memory_kib=document["memory_kib"],
            passes=document["passes"],
            lanes=document["lanes"],
            box=document["box"],
        )


class Passphrases:
    """The derivation of keys, one at a time (about 0.1 s and 64 MiB each), in a thread.

    argon2-cffi releases the GIL.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def wrap(self, org_id: OrgId, passphrase: str, notes_key: bytes) -> PassphraseWrap:
        salt = os.urandom(SALT_BYTES)
        key = await self._derived(passphrase, salt, MEMORY_KIB, PASSES, LANES)
        return PassphraseWrap(
            salt=salt,
            memory_kib=MEMORY_KIB,
            passes=PASSES,
            lanes=LANES,
            box=close_box(key, notes_key, _associated(org_id)),
        )

    async def unwrap(self, org_id: OrgId, passphrase: str, wrap: PassphraseWrap) -> bytes | None:
        """Return the notes key; None if the passphrase is wrong."""
        key = await self._derived(passphrase, wrap.salt, wrap.memory_kib, wrap.passes, wrap.lanes)
        try:
            return open_box(key, wrap.box, _associated(org_id))
        except VaultError:
            return None

    async def _derived(self, passphrase: str, salt: bytes, memory_kib: int, passes: int, lanes: int) -> bytes:
        async with self._turn:
            return await asyncio.to_thread(
                passphrase_key, passphrase, salt=salt, memory_kib=memory_kib, passes=passes, lanes=lanes
            )


def _associated(org_id: OrgId) -> bytes:
    place = Place(org_id=org_id, collection="notes_vaults", record=org_id, field="passphrase")
    return place.associated_data(FORMAT)
