"""Reads a backup, whole before anything is done with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import bson
from bson.codec_options import CodecOptions

from netautod.maintenance.archive.collections import require_allowed
from netautod.maintenance.archive.file.frames import read_frames
from netautod.maintenance.archive.file.header import Header, read_header
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.records import Begin, Contents, Documents, End, Record, RecordCodec
from netautod.maintenance.archive.file.sealing import CHANGED
from netautod.maintenance.archive.interrupting import Stop
from netautod.secrets.vault.root.store import COLLECTION as ROOTS
from netautod.secrets.vault.root.store import RootRecord
from netautod.store.migrations.archive_errors import DamagedError
from netautod.store.migrations.store import COLLECTION as MIGRATIONS
from netautod.store.migrations.store import Applied
from netautod.store.raw.documents import Tally, Tallying

_OPTIONS: CodecOptions[dict[str, object]] = CodecOptions(tz_aware=True)


@dataclass(frozen=True, kw_only=True)
class CheckedArchive:
    """A backup of which every byte was read. `roots` are the check values of its root keys, `applied` its
    migrations.
    """

    header: Header
    contents: Contents
    roots: tuple[RootRecord, ...]
    applied: tuple[Applied, ...]


def records_of(file: BinaryIO, keys: ArchiveKeys) -> tuple[Header, Iterator[Record]]:
    """Yield records from the beginning of the file. Raises as `read_header` does, and DamagedError on the
    way.
    """
    file.seek(0)
    header, sealing = read_header(file, keys)
    codec = RecordCodec()
    return header, (codec.decoded(content) for content in read_frames(file, sealing))


def checked(file: BinaryIO, keys: ArchiveKeys, stop: Stop) -> CheckedArchive:
    """Check counts and hashes of each collection against those recorded when the archive was written.

    Raises as `records_of` does, and ArchiveError for a collection that no such backup may hold.
    """
    header, records = records_of(file, keys)
    check = _Check(authenticated=header.authenticated)
    for record in records:
        stop.check()
        check.take(record)
    return CheckedArchive(
        header=header, contents=check.contents, roots=tuple(check.roots), applied=tuple(check.applied)
    )


class _Check:
    """A check that compares counts and hashes of each collection with what was recorded when it was
    written.
    """

    def __init__(self, *, authenticated: bool) -> None:
        self._authenticated = authenticated
        self.roots: list[RootRecord] = []
        self.applied: list[Applied] = []
        self._found: dict[str, Tally] = {}
        self._name: str | None = None
        self._tallying = Tallying()
        self._contents: Contents | None = None

    @property
    def contents(self) -> Contents:
        if self._contents is None:
            raise DamagedError(CHANGED)
        return self._contents

    def take(self, record: Record) -> None:
        if self._contents is not None:
            raise DamagedError(CHANGED)
        match record:
            case Begin():
                _require(self._name is None and record.collection not in self._found)
                require_allowed(record.collection, authenticated=self._authenticated)
                self._name, self._tallying = record.collection, Tallying()
            case Documents():
                _require(self._name is not None)
                self._tallying.add(record)
                if self._name == ROOTS:
                    self.roots += [RootRecord.from_document(found) for found in map(_decoded, record)]
                if self._name == MIGRATIONS:
                    self.applied += [Applied.from_document(found) for found in map(_decoded, record)]
            case End():
                _require(self._name is not None and record.tally == self._tallying.tally)
                self._found[str(self._name)], self._name = record.tally, None
            case Contents():
                _require(self._name is None and dict(record.collections) == self._found)
                self._contents = record


def _decoded(document: bytes) -> dict[str, object]:
    return bson.decode(document, _OPTIONS)


def _require(true: bool) -> None:
    if not true:
        raise DamagedError(CHANGED)
