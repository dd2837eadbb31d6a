"""Writes what a database held at one moment into a file, and reads the file again to see that it is whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from netautod.maintenance.archive.ahead import ahead
from netautod.maintenance.archive.file.frames import FrameWriter
from netautod.maintenance.archive.file.header import write_header
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.records import (
    FRAME_BYTES,
    Begin,
    Contents,
    Documents,
    End,
    Record,
    RecordCodec,
)
from netautod.maintenance.archive.interrupting import Stop
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.raw.documents import Tally, Tallying
from netautod.store.raw.reading import RawReader


@dataclass(frozen=True, kw_only=True)
class _Counted:
    """The number of documents in the collection that began last, by a query of its own."""

    documents: int


def write_archive(
    file: BinaryIO,
    reader: RawReader,
    collections: Sequence[str],
    *,
    taken_at: datetime,
    keys: ArchiveKeys,
    stop: Stop,
) -> Contents:
    """Write from the beginning of the file; `reader` is pinned. Memory does not grow with the collections.

    Raises ArchiveError if a collection was not read whole, and whatever the reader and the file raise.
    """
    _, sealing = write_header(file, keys)
    frames, codec = FrameWriter(file, sealing), RecordCodec()
    tallies: dict[str, Tally] = {}
    with ahead(_read(reader, collections)) as read:
        for record in _records(read, tallies):
            stop.check()
            frames.write(codec.encoded(record))
    contents = Contents(taken_at=taken_at, collections=tallies)
    frames.write(codec.encoded(contents), last=True)
    return contents


def _read(reader: RawReader, collections: Sequence[str]) -> Iterator[Begin | Sequence[bytes] | _Counted]:
    for name in collections:
        yield Begin(collection=name)
        yield from reader.batches(name)
        yield _Counted(documents=reader.count(name))


def _records(
    read: Iterator[Begin | Sequence[bytes] | _Counted], tallies: dict[str, Tally]
) -> Iterator[Record]:
    name, tallying, waiting = "", Tallying(), bytearray()
    for one in read:
        match one:
            case Begin():
                name, tallying = one.collection, Tallying()
                yield one
            case _Counted():
                if waiting:
                    yield Documents(content=bytes(waiting))
                    waiting.clear()
                tallies[name] = tallying.tally
                if tallying.tally.documents != one.documents:
                    read_ones = tallying.tally.documents
                    raise ArchiveError(f"Of {name} {read_ones} of {one.documents} documents were read")
                yield End(tally=tallying.tally)
            case _:
                tallying.add(one)
                for document in one:
                    waiting += document
                    if len(waiting) >= FRAME_BYTES:
                        yield Documents(content=bytes(waiting))
                        waiting.clear()
