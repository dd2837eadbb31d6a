"""The records in the frames of a backup: a collection begins, its documents, it ends; at last the totals."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import zstandard

from netautod.core.json.values import to_text
from netautod.maintenance.archive.file.sealing import CHANGED
from netautod.store.migrations.archive_errors import DamagedError
from netautod.store.raw.documents import Tally, documents_in

# Of documents that one frame begins another after; the last one of it may be as large as a document can be.
FRAME_BYTES = 1 << 20
# Frames that were written before began another one after 4 MiB.
_MOST_BYTES = (4 << 20) + (17 << 20)
# Level 1: quicker than the database delivers, and what is sealed in it does not get smaller anyway.
_LEVEL = 1
_BEGIN, _DOCUMENTS, _END, _CONTENTS = b"B", b"D", b"E", b"C"


@dataclass(frozen=True, kw_only=True)
class Begin:
    collection: str


@dataclass(frozen=True, kw_only=True)
class Documents:
    """A record of BSON, one document after the other."""

    content: bytes

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from documents_in(self.content)
        except ValueError as error:
            raise DamagedError(CHANGED) from error


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of the collection that began last."""

    tally: Tally


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The last record: the moment that everything is of, and each collection with what it held."""

    taken_at: datetime
    collections: Mapping[str, Tally]

    @property
    def documents(self) -> int:
        return sum(tally.documents for tally in self.collections.values())


Record = Begin | Documents | End | Contents


class RecordCodec:
    """A codec that keeps what zstandard works with; for one thread."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self._decompressor = zstandard.ZstdDecompressor()

    def encoded(self, record: Record) -> bytes:
        match record:
            case Begin():
                return _BEGIN + record.collection.encode()
            case Documents():
                return _DOCUMENTS + self._compressor.compress(record.content)
            case End():
                return _END + _json(asdict(record.tally))
            case Contents():
                tallies = {name: asdict(tally) for name, tally in record.collections.items()}
                return _CONTENTS + _json({"taken_at": to_text(record.taken_at), "collections": tallies})

    def decoded(self, content: bytes) -> Record:
        """Decode a record. Raises DamagedError for what `encoded` has not made."""
        kind, rest = content[:1], content[1:]
        try:
            if kind == _DOCUMENTS:
                return Documents(content=self._decompressed(rest))
            if kind == _BEGIN:
                return Begin(collection=rest.decode())
            if kind == _END:
                return End(tally=Tally(**json.loads(rest)))
            if kind == _CONTENTS:
                return _contents(json.loads(rest))
        except (ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
            raise DamagedError(CHANGED) from error
        raise DamagedError(CHANGED)

    def _decompressed(self, content: bytes) -> bytes:
        # Without a size the library would take as much memory as comes.
        if not 0 < zstandard.frame_content_size(content) <= _MOST_BYTES:
            raise ValueError("a frame of no or too many documents")
        return self._decompressor.decompress(content)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _contents(found: Mapping[str, Any]) -> Contents:
    tallies = {str(name): Tally(**tally) for name, tally in found["collections"].items()}
    return Contents(taken_at=datetime.fromisoformat(found["taken_at"]), collections=tallies)
