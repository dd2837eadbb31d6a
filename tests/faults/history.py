"""Every state that every execution of a database went through, from the change stream."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any
from uuid import uuid4

from pymongo import AsyncMongoClient

from netautod.executions.transitions import TERMINAL, TRANSITIONS

MARKS = "marks"


class History:
    """`async with History(uri, name) as history:`; `states[id]` is the sequence, the first one included.

    `watch` is told of each new state as it happens.
    """

    def __init__(self, uri: str, name: str) -> None:
        self.states: dict[str, list[str]] = defaultdict(list)
        self.watch: Callable[[str, str], None] = lambda execution_id, state: None
        self._client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(uri)
        self._database = self._client[name]
        self._marks: dict[str, asyncio.Event] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "History":
        self._stack.push_async_callback(self._client.close)
        stream = await self._stack.enter_async_context(await self._database.watch())
        following = asyncio.create_task(self._follow(stream), name="history")
        self._stack.push_async_callback(_ended, following)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

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

    async def _follow(self, stream: Any) -> None:
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


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _allowed(states: list[str]) -> bool:
    if states[0] != "pending" or sum(state in TERMINAL for state in states) > 1:
        return False
    allowed: dict[str, frozenset[str]] = {key: frozenset(value) for key, value in TRANSITIONS.items()}
    return all(after in allowed[before] for before, after in pairwise(states))
