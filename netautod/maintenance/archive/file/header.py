"""The beginning of a backup: what it is, which version of the product made it, and how it is sealed.

16 bytes of magic, the version of the format and the length of the JSON (two and four bytes, big end first),
the JSON, and the SHA-256 of all that.
"""

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO
from uuid import uuid4

from netautod import __version__
from netautod.core.errors import InvalidInput
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.sealing import (
    CHANGED,
    Encryption,
    KeyedHashes,
    PassphraseLock,
    Sealing,
    authentication,
    key_id,
)
from netautod.store.migrations.archive_errors import ArchiveError, DamagedError

MAGIC = b"netautod backup\n"
# Encrypted, or with hashes that anyone can make.
FORMAT = 1
# Without a passphrase, and authenticated by the root key.
AUTHENTICATED_FORMAT = 2
_LENGTHS = struct.Struct(">HI")
_MOST_BYTES = 1 << 16
_NO_BACKUP = "This is no backup of netautod"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of a backup. `id` is that of the backup, `version` the product's that made it.

    `root_key_id` names the root key that authenticates it, `lock` the passphrase that encrypts it; neither:
    nothing tells whether it was changed on purpose.
    """

    id: str
    version: str
    lock: PassphraseLock | None
    root_key_id: str | None = None

    @property
    def authenticated(self) -> bool:
        return self.lock is not None or self.root_key_id is not None


def write_header(file: BinaryIO, keys: ArchiveKeys) -> tuple[Header, Sealing]:
    """Write the header of a new backup; return it with what its frames are sealed by."""
    if keys.passphrase is not None:
        lock, key = PassphraseLock.made_for(keys.passphrase)
        header = Header(id=uuid4().hex, version=__version__, lock=lock)
        file_id = _write(file, FORMAT, header, {"encryption": lock.to_json()})
        return header, Encryption(key, file_id)
    root = keys.require_root().secret
    header = Header(id=uuid4().hex, version=__version__, lock=None, root_key_id=key_id(root))
    file_id = _write(file, AUTHENTICATED_FORMAT, header, {"root_key_id": header.root_key_id})
    return header, authentication(root, file_id)


def _write(file: BinaryIO, format: int, header: Header, protection: Mapping[str, Any]) -> bytes:
    content = json.dumps({"id": header.id, "version": header.version, **protection}).encode()
    head = MAGIC + _LENGTHS.pack(format, len(content)) + content
    file_id = hashlib.sha256(head).digest()
    file.write(head + file_id)
    return file_id


def read_header(file: BinaryIO, keys: ArchiveKeys) -> tuple[Header, Sealing]:
    """Read the header and leave the file at its first frame.

    Raises ArchiveError for a file that is no backup, is damaged, was made by a newer version or under another
    root key, InvalidInput for a passphrase that is wrong, missing or needless, and for what nothing
    authenticates unless the caller vouches for it.
    """
    header, file_id = _read(file)
    if _release(header.version) > _release(__version__):
        raise ArchiveError(
            f"The backup was made by netautod {header.version}, which is newer than this ({__version__}): "
            "restore it with that version"
        )
    if header.lock is None and keys.passphrase is not None:
        raise InvalidInput("The backup is not encrypted: leave --passphrase-file out if that is expected")
    _require_vouched(header, unauthenticated=keys.unauthenticated)
    return header, _sealing(header, file_id, keys)


def _require_vouched(header: Header, *, unauthenticated: bool) -> None:
    if header.authenticated and unauthenticated:
        raise InvalidInput("The backup is authenticated: leave --unauthenticated out")
    if not header.authenticated and not unauthenticated:
        raise InvalidInput(
            "Nothing shows whether this backup was changed by someone: it says that it is one of netautod "
            f"{header.version} without a passphrase, and those were not authenticated. "
            "If it has always been in your hands, restore it with --unauthenticated"
        )


def _sealing(header: Header, file_id: bytes, keys: ArchiveKeys) -> Sealing:
    if header.lock is not None:
        return Encryption(_passphrase_key(header.lock, keys.passphrase), file_id)
    if header.root_key_id is None:
        return KeyedHashes(file_id)
    root = keys.require_root().secret
    if header.root_key_id != key_id(root):
        raise keys.other_root()
    return authentication(root, file_id)


def _passphrase_key(lock: PassphraseLock, passphrase: str | None) -> bytes:
    if passphrase is None:
        raise InvalidInput("The backup is encrypted: name its passphrase with --passphrase-file")
    key = lock.key(passphrase)
    if key is None:
        raise InvalidInput("The passphrase is not the one of this backup")
    return key


def _read(file: BinaryIO) -> tuple[Header, bytes]:
    head = file.read(len(MAGIC) + _LENGTHS.size)
    if not head.startswith(MAGIC):
        raise DamagedError(_NO_BACKUP)
    if len(head) < len(MAGIC) + _LENGTHS.size:
        raise DamagedError(CHANGED)
    format, length = _LENGTHS.unpack(head[len(MAGIC) :])
    if format > AUTHENTICATED_FORMAT:
        raise ArchiveError(
            f"The backup has format {format}, and netautod {__version__} reads up to {AUTHENTICATED_FORMAT}: "
            "restore it with the version that made it"
        )
    if not format or length > _MOST_BYTES:
        raise DamagedError(CHANGED)
    content = file.read(length)
    file_id = hashlib.sha256(head + content).digest()
    if file.read(len(file_id)) != file_id:
        raise DamagedError(CHANGED)
    try:
        return _parsed(format, json.loads(content)), file_id
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedError(CHANGED) from error


def _parsed(format: int, found: Mapping[str, Any]) -> Header:
    header = Header(id=str(found["id"]), version=str(found["version"]), lock=None)
    if format == AUTHENTICATED_FORMAT:
        return replace(header, root_key_id=str(found["root_key_id"]))
    return replace(
        header,
        lock=None if found["encryption"] is None else PassphraseLock.from_json(found["encryption"]),
    )


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: `0.2.0.dev1` is as new as `0.2.0`."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
