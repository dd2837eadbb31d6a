"""Keys of backups, and backups as netautod 0.1 wrote them: without a passphrase anyone could change them."""

import hashlib
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import pytest

from netautod import __version__
from netautod.maintenance.archive import writing
from netautod.maintenance.archive.file.header import FORMAT, MAGIC, Header
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.sealing import KeyedHashes, Sealing
from netautod.secrets.vault.root.key_file import RootKey

ROOT = bytes(range(32))


def keys(
    passphrase: str | None = None, *, root: bytes | None = ROOT, unauthenticated: bool = False
) -> ArchiveKeys:
    found = None if root is None else RootKey(secret=root, source=Path("the.key"))
    return ArchiveKeys(
        passphrase=passphrase, root=found, place="put it at PLACE", unauthenticated=unauthenticated
    )


def earlier_header(file: BinaryIO, _: ArchiveKeys) -> tuple[Header, Sealing]:
    """Write the header of a backup without a passphrase as netautod 0.1 did."""
    header = Header(id=uuid4().hex, version=__version__, lock=None)
    content = json.dumps({"id": header.id, "version": header.version, "encryption": None}).encode()
    head = MAGIC + struct.pack(">HI", FORMAT, len(content)) + content
    file_id = hashlib.sha256(head).digest()
    file.write(head + file_id)
    return header, KeyedHashes(file_id)


@contextmanager
def written_by_an_earlier_version() -> Iterator[None]:
    """Write backups as netautod 0.1 did while the block runs; they cannot be read again meanwhile."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "write_header", earlier_header)
        yield
