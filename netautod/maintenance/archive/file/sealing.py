"""The protection of a backup's frames: by a hash under the root key, or by encryption under a passphrase.

Each frame is bound to its file (`file_id`, the hash of everything before the first frame), to its number and
to whether it is the last one, so that none is left out, moved, repeated or taken from another file. With a
passphrase it is encrypted: AES-256-GCM with the number and the mark of the last frame in the nonce, the
STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár (https://eprint.iacr.org/2015/189). The key is
used for one file alone, since its salt is; so no nonce comes twice. Without one it is authenticated: BLAKE2b
(RFC 7693) under a key that HKDF makes from the root key for this file alone. Backups of format 1 without a
passphrase have a hash that anyone can make.
"""

import hashlib
import hmac
import os
from dataclasses import dataclass
from typing import Any, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from netautod.secrets.vault.envelope import close_box, derived, open_box
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.passphrase import LANES, MEMORY_KIB, PASSES, SALT_BYTES, passphrase_key
from netautod.secrets.vault.vault import INSTALLATION
from netautod.store.migrations.archive_errors import DamagedError

HASH_BYTES = 16
_KEY_ID_BYTES = 16
# What a file may demand: more would be an attack on the machine that reads it.
_MOST_MEMORY_KIB = 1 << 20
_MOST_PASSES = 64
_CHECK_TEXT = b"netautod backup passphrase"
_CHECK_DATA = b"v1|check"
CHANGED = "The backup is damaged, or was changed"


class Sealing(Protocol):
    """A protection of frames: `close` and `open` are inverse to each other for a frame of the same number."""

    def close(self, number: int, last: bool, content: bytes) -> bytes: ...

    def open(self, number: int, last: bool, sealed: bytes) -> bytes:
        """Open a frame. Raises DamagedError for what `close` has not made of a frame in this place."""
        ...


class KeyedHashes:
    """A protection by a hash behind each frame: nobody else makes one if the key is secret."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def close(self, number: int, last: bool, content: bytes) -> bytes:
        return content + self._hash(number, last, content)

    def open(self, number: int, last: bool, sealed: bytes) -> bytes:
        content, found = sealed[:-HASH_BYTES], sealed[-HASH_BYTES:]
        if not hmac.compare_digest(found, self._hash(number, last, content)):
            raise DamagedError(CHANGED)
        return content

    def _hash(self, number: int, last: bool, content: bytes) -> bytes:
        made = hashlib.blake2b(_place(number, last), digest_size=HASH_BYTES, key=self._key)
        made.update(content)
        return made.digest()


class Encryption:
    def __init__(self, key: bytes, file_id: bytes) -> None:
        self._cipher = AESGCM(key)
        self._file_id = file_id

    def close(self, number: int, last: bool, content: bytes) -> bytes:
        return self._cipher.encrypt(_place(number, last), content, self._file_id)

    def open(self, number: int, last: bool, sealed: bytes) -> bytes:
        try:
            return self._cipher.decrypt(_place(number, last), sealed, self._file_id)
        except InvalidTag as error:
            raise DamagedError(CHANGED) from error


def authentication(root_secret: bytes, file_id: bytes) -> KeyedHashes:
    """Return the protection that only a holder of the root key can make, for this file."""
    return KeyedHashes(derived(root_secret, INSTALLATION, f"backup {file_id.hex()}"))


def key_id(root_secret: bytes) -> str:
    """Return what tells backups of another root key apart; it says nothing of the key."""
    return derived(root_secret, INSTALLATION, "backup key id")[:_KEY_ID_BYTES].hex()


def _place(number: int, last: bool) -> bytes:
    """Return 12 bytes, as a nonce has."""
    return bytes([0, 0, 0, last]) + number.to_bytes(8, "big")


@dataclass(frozen=True, kw_only=True)
class PassphraseLock:
    """The facts that a file holds of its passphrase. `check` opens with the right one, whatever the rest is
    like.
    """

    salt: bytes
    memory_kib: int
    passes: int
    lanes: int
    check: bytes

    @classmethod
    def made_for(cls, passphrase: str) -> "tuple[PassphraseLock, bytes]":
        """Create a lock with the key of a new file."""
        salt = os.urandom(SALT_BYTES)
        key = passphrase_key(passphrase, salt=salt, memory_kib=MEMORY_KIB, passes=PASSES, lanes=LANES)
        check = close_box(key, _CHECK_TEXT, _CHECK_DATA)
        lock = cls(salt=salt, memory_kib=MEMORY_KIB, passes=PASSES, lanes=LANES, check=check)
        return lock, key

    def key(self, passphrase: str) -> bytes | None:
        """Return the key, or None if the passphrase is another one."""
        key = passphrase_key(
            passphrase, salt=self.salt, memory_kib=self.memory_kib, passes=self.passes, lanes=self.lanes
        )
        try:
            open_box(key, self.check, _CHECK_DATA)
        except VaultError:
            return None
        return key

    def to_json(self) -> dict[str, Any]:
        plain = {"memory_kib": self.memory_kib, "passes": self.passes, "lanes": self.lanes}
        return {"kdf": "argon2id", **plain, "salt": self.salt.hex(), "check": self.check.hex()}

    @classmethod
    def from_json(cls, found: Any) -> "PassphraseLock":
        """Read a lock. Raises ValueError, KeyError or TypeError for what `to_json` has not made."""
        lock = cls(
            salt=bytes.fromhex(found["salt"]),
            memory_kib=int(found["memory_kib"]),
            passes=int(found["passes"]),
            lanes=int(found["lanes"]),
            check=bytes.fromhex(found["check"]),
        )
        cheap = (
            lock.memory_kib <= _MOST_MEMORY_KIB and lock.passes <= _MOST_PASSES and lock.lanes <= _MOST_PASSES
        )
        if found["kdf"] != "argon2id" or not cheap:
            raise ValueError("an unknown way to a key")
        return lock
