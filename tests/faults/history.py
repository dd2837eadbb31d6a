"""Every state that every execution of a database went through, from the change stream."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any
from uuid import uuid4

from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from netautod.automation.executions.transitions import TERMINAL, TRANSITIONS

MARKS = "marks"


class History:
    """`states[id]` is the sequence with the first one; `watch` is told of each new state as it happens."""

    def __init__(self, database: AsyncDatabase[dict[str, Any]]) -> None:
        self.states: dict[str, list[str]] = defaultdict(list)
        self.watch: Callable[[str, str], None] = lambda execution_id, state: None
        self._database = database
        self._marks: dict[str, asyncio.Event] = {}

    async def broken(self) -> list[tuple[str, list[str]]]:
        """Executions that made a forbidden move, such as one out of a terminal state."""
        await self._caught_up()
        return [(key, states) for key, states in self.states.items() if not _allowed(states)]

    async def unfinished(self) -> list[str]:
        """Executions that have not reached a terminal state."""
        await self._caught_up()
        return [key for key, states in self.states.items() if states[-1] not in TERMINAL]

    async def _caught_up(self) -> None:
        """All that was written before this call has arrived: a mark written now has."""
        mark = uuid4().hex
        self._marks[mark] = asyncio.Event()
        await self._database[MARKS].insert_one({"_id": mark})
        async with asyncio.timeout(20):
            await self._marks[mark].wait()

    async def follow(self, stream: Any) -> None:
        async for change in stream:
            collection = change.get("ns", {}).get("coll")
            if collection == "executions":
                self._note(change)
            elif collection == MARKS and change["operationType"] == "insert":
                self._marks[change["documentKey"]["_id"]].set()

    def _note(self, change: dict[str, Any]) -> None:
        found = change.get("fullDocument") or change.get("updateDescription", {}).get("updatedFields", {})
        if "state" in found:
            key = change["documentKey"]["_id"]
            self.states[key].append(found["state"])
            self.watch(key, found["state"])


@asynccontextmanager
async def followed(uri: str, name: str) -> AsyncIterator[History]:
    """The history of a database until the end of the block."""
    async with AsyncMongoClient[dict[str, Any]](uri) as client:
        history = History(client[name])
        async with await client[name].watch() as stream:
            following = asyncio.create_task(history.follow(stream), name="history")
            try:
                yield history
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)


def _allowed(states: list[str]) -> bool:
    if states[0] != "pending" or sum(state in TERMINAL for state in states) > 1:
        return False
    allowed: dict[str, frozenset[str]] = {key: frozenset(value) for key, value in TRANSITIONS.items()}
    return all(after in allowed[before] for before, after in pairwise(states))
