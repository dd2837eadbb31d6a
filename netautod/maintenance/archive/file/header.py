"""The beginning of a backup: what it is, which version of the product made it, and how it is sealed.

16 bytes of magic, the version of the format and the length of the JSON (two and four bytes, big end first),
the JSON, and the SHA-256 of all that.
"""

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO
from uuid import uuid4

from netautod import __version__
from netautod.core.errors import InvalidInput
from netautod.maintenance.archive.file.sealing import CHANGED, Checksums, Encryption, PassphraseLock, Sealing
from netautod.store.migrations.archive_errors import ArchiveError, DamagedError

MAGIC = b"netautod backup\n"
FORMAT = 1
_LENGTHS = struct.Struct(">HI")
_MOST_BYTES = 1 << 16
_NO_BACKUP = "This is no backup of netautod"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of a backup. `id` is that of the backup, `version` the product's that made it."""

    id: str
    version: str
    lock: PassphraseLock | None


def write_header(file: BinaryIO, passphrase: str | None) -> tuple[Header, Sealing]:
    """Write the header of a new backup; return it with what its frames are sealed by."""
    lock, key = (None, None) if passphrase is None else PassphraseLock.made_for(passphrase)
    header = Header(id=uuid4().hex, version=__version__, lock=lock)
    content = json.dumps(
        {"id": header.id, "version": header.version, "encryption": lock and lock.to_json()}
    ).encode()
    head = MAGIC + _LENGTHS.pack(FORMAT, len(content)) + content
    file_id = hashlib.sha256(head).digest()
    file.write(head + file_id)
    return header, _sealing(key, file_id)


def read_header(file: BinaryIO, passphrase: str | None) -> tuple[Header, Sealing]:
    """Read the header and leave the file at its first frame.

    Raises ArchiveError for a file that is no backup, is damaged or was made by a newer version, InvalidInput
    for a passphrase that is wrong, missing or needless.
    """
    header, file_id = _read(file)
    if _release(header.version) > _release(__version__):
        raise ArchiveError(
            f"The backup was made by netautod {header.version}, which is newer than this ({__version__}): "
            "restore it with that version"
        )
    if header.lock is None:
        if passphrase is not None:
            raise InvalidInput("The backup is not encrypted: leave --passphrase-file out if that is expected")
        return header, _sealing(None, file_id)
    if passphrase is None:
        raise InvalidInput("The backup is encrypted: name its passphrase with --passphrase-file")
    key = header.lock.key(passphrase)
    if key is None:
        raise InvalidInput("The passphrase is not the one of this backup")
    return header, _sealing(key, file_id)


def _read(file: BinaryIO) -> tuple[Header, bytes]:
    head = file.read(len(MAGIC) + _LENGTHS.size)
    if not head.startswith(MAGIC):
        raise DamagedError(_NO_BACKUP)
    if len(head) < len(MAGIC) + _LENGTHS.size:
        raise DamagedError(CHANGED)
    format, length = _LENGTHS.unpack(head[len(MAGIC) :])
    if format > FORMAT:
        raise ArchiveError(
            f"The backup has format {format}, and netautod {__version__} reads up to {FORMAT}: "
            "restore it with the version that made it"
        )
    if not format or length > _MOST_BYTES:
        raise DamagedError(CHANGED)
    content = file.read(length)
    file_id = hashlib.sha256(head + content).digest()
    if file.read(len(file_id)) != file_id:
        raise DamagedError(CHANGED)
    try:
        return _parsed(json.loads(content)), file_id
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(CHANGED) from error


def _parsed(found: Mapping[str, Any]) -> Header:
    lock = None if found["encryption"] is None else PassphraseLock.from_json(found["encryption"])
    return Header(id=str(found["id"]), version=str(found["version"]), lock=lock)


def _sealing(key: bytes | None, file_id: bytes) -> Sealing:
    return Checksums(file_id) if key is None else Encryption(key, file_id)


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: `0.2.0.dev1` is as new as `0.2.0`."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
