"""Reads whole collections, all of them as they were at one moment of the database's own time.

Every read names that moment (read concern `snapshot` with `atClusterTime`,
https://www.mongodb.com/docs/manual/reference/read-concern-snapshot/), and every answer has to name the same
one. No lock is held meanwhile: writers go on, and the server keeps what was for as long as it is set to.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from bson import Timestamp
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import OperationFailure

from netautod.core.errors import NetautodError
from netautod.store.driver.failures import translated
from netautod.store.raw.connecting import RAW, raw_client

# Server codes: SnapshotTooOld, SnapshotUnavailable (src/mongo/base/error_codes.yml of MongoDB).
_TOO_OLD = 239
_UNAVAILABLE = 246
# Without a bound the server answers with 16 MB. There are several answers at a time, each in several forms
# and in pieces as large as a document: together some thirty times as much as this, but no longer to read.
_BATCH_BYTES = 1 << 20


class PastGoneError(NetautodError):
    """The database does not keep the moment that is read any more."""


class CatalogChangedError(NetautodError):
    """A collection was made or dropped since the moment: it cannot be read as of then. A later one can."""


class OtherMomentError(NetautodError):
    """The database answered with documents of another moment than the read named."""


class RawReader:
    """A reader made by `raw_reader`, for one thread. Until `pin` it reads what exists now."""

    def __init__(self, database: Database[Any], session: ClientSession) -> None:
        self._database = database
        self._session = session
        self._at: Timestamp | None = None

    def pin(self, collection: str) -> datetime:
        """Read everything from here on as of now, by the clock of the database; the collection must exist."""
        answer = self._ask({"find": collection, "limit": 1, "readConcern": {"level": "snapshot"}})
        found = answer["cursor"].get("atClusterTime")
        if not isinstance(found, Timestamp):
            raise OtherMomentError("The database does not say of which moment its answers are")
        self._at = found
        return found.as_datetime()

    def collections(self) -> frozenset[str]:
        """Return the names of the collections, without the server's own."""
        names = self._database.list_collection_names(filter={"type": "collection"})
        return frozenset(name for name in names if not name.startswith("system."))

    def batches(self, collection: str) -> Iterator[Sequence[bytes]]:
        """Yield all documents, about 1 MiB at a time and never more than 16; none of a collection that does
        not exist.
        """
        command: Mapping[str, Any] = {"find": collection}
        while True:
            more, documents = self._batch(command)
            size = _next(documents)
            yield documents
            del documents  # or they would be there while the next ones come
            if not more:
                return
            command = {"getMore": more, "collection": collection, "batchSize": size}

    def _batch(self, command: Mapping[str, Any]) -> tuple[int, Sequence[bytes]]:
        """Return the cursor's id, 0 at its end, and the documents that the server has answered with."""
        cursor = self._answer(command)
        batch = cursor["nextBatch" if "getMore" in command else "firstBatch"]
        return cursor["id"], [document.raw for document in batch]

    def count(self, collection: str) -> int:
        """Count the documents by a query of its own."""
        counting: Sequence[Mapping[str, Any]] = [{"$count": "documents"}]
        cursor = self._answer({"aggregate": collection, "pipeline": counting, "cursor": {}})
        return sum(found["documents"] for found in cursor["firstBatch"])

    def _answer(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._at is not None and "getMore" not in command:
            command = {**command, "readConcern": {"level": "snapshot", "atClusterTime": self._at}}
        cursor: Mapping[str, Any] = self._ask(command)["cursor"]
        # A collection that does not exist has no moment either.
        nothing = not cursor["id"] and not cursor.get("firstBatch", True)
        if self._at is not None and cursor.get("atClusterTime") != self._at and not nothing:
            raise OtherMomentError("The database answered with what was at another moment")
        return cursor

    def _ask(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return self._database.command(dict(command), codec_options=RAW, session=self._session)
        except OperationFailure as error:
            if error.code == _TOO_OLD:
                raise PastGoneError("The database does not keep its past for so long") from error
            if error.code == _UNAVAILABLE:
                raise CatalogChangedError("A collection was made or dropped meanwhile") from error
            raise


def _next(documents: Sequence[bytes]) -> int:
    """Return how many documents to request, if they are as large as the last ones."""
    return max(1, _BATCH_BYTES * len(documents) // max(1, sum(map(len, documents))))


@contextmanager
def raw_reader(uri: str, database: str) -> Iterator[RawReader]:
    """Open a reader. Raises Unavailable when the database goes away meanwhile."""
    with (
        translated(writing=False),
        raw_client(uri) as client,
        client.start_session(causal_consistency=False) as session,
    ):
        yield RawReader(client.get_database(database), session)
