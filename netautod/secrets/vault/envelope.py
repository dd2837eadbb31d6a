"""The pure cryptography of the vault: boxes of AES-256-GCM, the associated data, the sealed value's shape.

A box is nonce (12 bytes), ciphertext and tag (16 bytes) in one byte string. Nonces are random; NIST SP
800-38D 8.3 allows 2**32 of them under one key. A record key makes one box, an organization key one per
sealed value, a root key a handful per organization.
"""

import os
from dataclasses import dataclass
from typing import Any, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.errors import VaultError

FORMAT = 1
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16

CANNOT_OPEN = "A stored secret does not open: it was changed, moved, or encrypted with another key"


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of a sealed value, which opens nowhere else. `record` and `field` as the caller
    names them.
    """

    org_id: OrgId
    collection: str
    record: str
    field: str

    def associated_data(self, key_version: int) -> bytes:
        """Return `v1|org|collection|record|field|key version` in UTF-8."""
        parts = (self.org_id, self.collection, self.record, self.field)
        # A separator inside a part would let two places share one text.
        if any(not part or "|" in part for part in parts):
            raise VaultError("A vault place has an empty part or one with '|'")
        return "|".join((f"v{FORMAT}", *parts, str(key_version))).encode()


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A sealed value as it is stored.

    `key_version` is the organization key that wraps the record key now; `sealed_version` the one at sealing
    time, which the ciphertext is bound to, so that re-wrapping leaves the ciphertext alone.
    """

    key_version: int
    sealed_version: int
    wrapped: bytes
    data: bytes

    def to_document(self) -> dict[str, Any]:
        return {
            "v": FORMAT,
            "key_version": self.key_version,
            "sealed_version": self.sealed_version,
            "wrapped": self.wrapped,
            "data": self.data,
        }

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read the subdocument. Raises VaultError for anything that `to_document` has not made."""
        if not isinstance(document, dict) or document.get("v") != FORMAT:
            raise VaultError(CANNOT_OPEN)
        versions = [document.get("key_version"), document.get("sealed_version")]
        boxes = [document.get("wrapped"), document.get("data")]
        whole = all(type(version) is int and version > 0 for version in versions)
        if not whole or not all(isinstance(box, bytes) for box in boxes):
            raise VaultError(CANNOT_OPEN)
        return cls(
            key_version=document["key_version"],
            sealed_version=document["sealed_version"],
            wrapped=document["wrapped"],
            data=document["data"],
        )


@dataclass(frozen=True, kw_only=True)
class SealedField:
    """A field where sealed values are stored: `path` (dotted, no arrays) in the documents of `collection`.

    They were sealed with record = `str(_id)`, field = `path` and the document's `org_id` (vault.INSTALLATION
    without one). All `_id`s of the collection are of one BSON type.
    """

    collection: str
    path: str


def new_key() -> bytes:
    """Return 32 bytes from the system's random source."""
    return os.urandom(KEY_BYTES)


def close_box(key: bytes, plaintext: bytes, associated_data: bytes) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plaintext, associated_data)


def open_box(key: bytes, box: bytes, associated_data: bytes) -> bytes:
    """Return the plaintext; VaultError if key, box or associated data are not those of `close_box`."""
    if len(box) < NONCE_BYTES + TAG_BYTES:
        raise VaultError(CANNOT_OPEN)
    try:
        return AESGCM(key).decrypt(box[:NONCE_BYTES], box[NONCE_BYTES:], associated_data)
    except InvalidTag as error:
        raise VaultError(CANNOT_OPEN) from error


def seal(organization_key: bytes, key_version: int, place: Place, plaintext: bytes) -> Sealed:
    """Encrypt under a fresh record key and wrap that key."""
    associated = place.associated_data(key_version)
    record_key = new_key()
    return Sealed(
        key_version=key_version,
        sealed_version=key_version,
        wrapped=close_box(organization_key, record_key, associated),
        data=close_box(record_key, plaintext, associated),
    )


def unseal(organization_key: bytes, place: Place, sealed: Sealed) -> bytes:
    record_key = open_box(organization_key, sealed.wrapped, place.associated_data(sealed.key_version))
    return open_box(record_key, sealed.data, place.associated_data(sealed.sealed_version))


def rewrapped(
    old_key: bytes, old_version: int, new_key_: bytes, new_version: int, place: Place, box: bytes
) -> bytes:
    """Return the record key in `box`, wrapped by another version of the organization key."""
    record_key = open_box(old_key, box, place.associated_data(old_version))
    return close_box(new_key_, record_key, place.associated_data(new_version))


def derived(secret: bytes, org_id: OrgId, purpose: str) -> bytes:
    """Derive 32 bytes for one purpose by HKDF-SHA256 (RFC 5869); equal inputs give equal keys."""
    info = f"v{FORMAT}|{org_id}|{purpose}".encode()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)
