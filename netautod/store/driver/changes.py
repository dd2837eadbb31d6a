"""The changes of a database in the order in which it made them (MongoDB's change streams)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pymongo.errors import OperationFailure

from netautod.core.errors import NetautodError, Unavailable
from netautod.store.driver.calls import Calls

Document = dict[str, Any]
Run = Callable[[Mapping[str, Any]], Awaitable[Document]]
BATCH = 500
# No replica set (40573 is the number of the assertion); no right to it; a server that knows no such stage.
NOT_THERE = frozenset({13, 40324, 40573})
# https://github.com/mongodb/mongo/blob/r6.0.5/src/mongo/base/error_codes.yml: ChangeStreamHistoryLost,
# ChangeStreamFatalError, InvalidResumeToken; and a change that is larger than a document may be.
LOST = frozenset({260, 280, 286, 10334})
# Its answer comes so much later than the time that it may wait for changes; then the server hangs.
SLACK_SECONDS = 3.0


class NoChangeStreams(NetautodError):
    """The database has none, or none for this user."""


class HistoryLost(NetautodError):
    """Raised when the changes after the last one that was read are not kept any more."""


class Changes:
    """A stream made by `Database.changes`. `token` is the place behind what was read: a new stream may start
    there.
    """

    def __init__(self, calls: Calls, run: Run, end: Callable[[], Awaitable[None]]) -> None:
        self._calls = calls
        self._run = run
        self._end = end
        self._cursor: Any = None
        self._first: list[Document] = []
        self.token: Any = None

    async def open(self, stages: Sequence[Mapping[str, Any]], after: Any) -> None:
        """Open the stream. Raises NoChangeStreams, HistoryLost, Unavailable."""
        place = {} if after is None else {"resumeAfter": after}
        stream = {"$changeStream": {"fullDocument": "updateLookup", **place}}
        command = {"aggregate": 1, "pipeline": [stream, *stages], "cursor": {"batchSize": BATCH}}
        found = await self._ask(lambda: self._calls.read_once(lambda: self._run(command)))
        self._first = self._taken(found, "firstBatch")

    async def next(self, seconds: float) -> list[Document]:
        """Return the next changes, at most 500; none if none came within so many seconds."""
        if self._first:
            first, self._first = self._first, []
            return first
        command = {
            "getMore": self._cursor,
            "collection": "$cmd.aggregate",
            "batchSize": BATCH,
            "maxTimeMS": int(seconds * 1000),
        }
        answer = self._calls.awaiting
        found = await self._ask(lambda: answer(lambda: self._run(command), seconds + SLACK_SECONDS))
        return self._taken(found, "nextBatch")

    async def close(self) -> None:
        with suppress(Unavailable, OperationFailure):
            if self._cursor:
                command = {"killCursors": "$cmd.aggregate", "cursors": [self._cursor]}
                await self._calls.read_once(lambda: self._run(command))
        await self._end()

    def _taken(self, found: Document, batch: str) -> list[Document]:
        cursor = found["cursor"]
        self._cursor = cursor["id"]
        self.token = cursor.get("postBatchResumeToken", self.token)
        if not self._cursor:  # the database was dropped
            raise HistoryLost("the change stream has ended")
        changes: list[Document] = cursor[batch]
        return changes

    async def _ask(self, ask: Callable[[], Awaitable[Document]]) -> Document:
        try:
            return await ask()
        except OperationFailure as error:
            if error.code in NOT_THERE:
                raise NoChangeStreams(f"the database has no change streams for us: {error}") from error
            if error.code in LOST:
                raise HistoryLost(f"changes are not kept any more: {error}") from error
            raise
