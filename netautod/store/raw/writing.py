"""Writes many documents as they are, without waiting for the disk each time."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo.database import Database
from pymongo.errors import BulkWriteError
from pymongo.write_concern import WriteConcern

from netautod.core.errors import DiskFull, Unavailable
from netautod.core.work.guard import Guard
from netautod.store.driver.failures import duplicates_of, translated
from netautod.store.raw.connecting import raw_client

# More of them gain nothing: by then the server is busy.
THREADS = 3


class RawWriter:
    """A writer made by `raw_writer`.

    A crash of the server may take what was inserted along, until any later write is acknowledged by a
    majority with its journal: both keep everything in order.
    """

    def __init__(self, database: Database[Any], threads: ThreadPoolExecutor, guard: Guard) -> None:
        # The memory of a majority would be waited for with each batch; the caller waits once at the end.
        self._database = database.with_options(write_concern=WriteConcern(w=1, j=False))
        self._threads = threads
        self._guard = guard
        self._waiting: deque[Future[None]] = deque()

    def insert(self, collection: str, documents: Sequence[bytes]) -> None:
        """Submit documents and return before they are stored. A document whose `_id` exists already is left
        out.

        Raises what an earlier batch has met, as `flush` does.
        """
        self._waiting.append(self._threads.submit(self._insert, collection, documents))
        while len(self._waiting) > THREADS:
            self._waiting.popleft().result()

    def flush(self) -> None:
        """Wait until all documents are stored; raises Unavailable, UnknownOutcome or DiskFull."""
        while self._waiting:
            self._waiting.popleft().result()

    def _insert(self, collection: str, documents: Sequence[bytes]) -> None:
        made = [RawBSONDocument(document) for document in documents]
        try:
            self._send(collection, made)
        except DiskFull:
            raise
        except Unavailable:
            # Once more, as the driver would do; but it would ask no guard, however late it is by then.
            self._send(collection, made)

    def _send(self, collection: str, documents: Sequence[RawBSONDocument]) -> None:
        self._guard()
        with translated(writing=True):
            try:
                self._database[collection].insert_many(
                    documents, ordered=False, bypass_document_validation=True
                )
            except BulkWriteError as error:
                duplicates_of(error)


@contextmanager
def raw_writer(uri: str, database: str, *, guard: Guard) -> Iterator[RawWriter]:
    """Open a writer. `guard` is called in several threads, before each batch is sent."""
    with (
        translated(writing=True),
        raw_client(uri, connections=THREADS, repeats_writes=False) as client,
        ThreadPoolExecutor(THREADS, "raw writes") as threads,
    ):
        yield RawWriter(client.get_database(database), threads, guard)
