"""Loads the documents of a backup into a database without indexes, and compares what is there then."""

from collections.abc import Callable
from typing import BinaryIO

from netautod.core.work.guard import Guard
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.reading import CheckedArchive, records_of
from netautod.maintenance.archive.file.records import Begin, Contents, Documents
from netautod.maintenance.archive.file.sealing import CHANGED
from netautod.maintenance.archive.interrupting import Stop
from netautod.store.migrations.archive_errors import ArchiveError, DamagedError
from netautod.store.migrations.restore_marker import COLLECTION as MARKER
from netautod.store.raw.documents import Tally, Tallying
from netautod.store.raw.reading import RawReader, raw_reader
from netautod.store.raw.writing import raw_writer

# Of about 1 MiB each; so much is sent again at most after a crash.
FRAMES_AT_ONCE = 64


def load(
    file: BinaryIO,
    archive: CheckedArchive,
    keys: ArchiveKeys,
    *,
    uri: str,
    database: str,
    done: int,
    progress: Callable[[int], None],
    guard: Guard,
    stop: Stop,
) -> None:
    """Load the documents of the archive that the file held when it was checked.

    `done` frames are in; `progress` records durably how many are. `guard` is called before each write; both
    raise what ends the loading. Raises DamagedError if the file is another one by now, Unavailable,
    UnknownOutcome or DiskFull; then the same call goes on later.
    """
    header, records = records_of(file, keys)
    if header != archive.header:
        raise DamagedError(CHANGED)
    collection, frames = "", 0
    with raw_writer(uri, database, guard=guard) as writer:
        for record in records:
            stop.check()
            match record:
                case Begin():
                    collection = record.collection
                case Documents():
                    frames += 1
                    if frames > done:
                        writer.insert(collection, list(record))
                    if frames > done and not frames % FRAMES_AT_ONCE:
                        writer.flush()
                        progress(frames)
        writer.flush()
        progress(frames)


def compare(contents: Contents, *, uri: str, database: str, stop: Stop) -> None:
    """Raise ArchiveError if the database holds anything else than the backup."""
    wanted = {name: tally for name, tally in contents.collections.items() if tally.documents}
    with raw_reader(uri, database) as reader:
        others = reader.collections() - set(wanted) - {MARKER}
        if others:
            raise _differs(sorted(others)[0])
        for name, tally in wanted.items():
            if _tally(reader, name, stop) != tally:
                raise _differs(name)


def _tally(reader: RawReader, collection: str, stop: Stop) -> Tally:
    tallying = Tallying()
    for documents in reader.batches(collection):
        stop.check()
        tallying.add(documents)
    return tallying.tally


def _differs(collection: str) -> ArchiveError:
    return ArchiveError(
        f"The database does not hold in {collection} what the backup has. "
        "If something else has written to it: stop that, and drop the database; then restore again"
    )
