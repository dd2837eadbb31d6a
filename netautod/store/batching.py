"""Batches database calls: what many callers ask within a moment goes in one round trip.

A round trip costs this process 0.3 to 0.5 ms (a thread of the driver takes over, and back) whatever it
carries, and a run over thousands of devices would make a dozen for each.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from netautod.core.errors import Duplicate, NetautodError
from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.core.work.deadlines import context_for_many, within_patience
from netautod.core.work.guard import Guard, no_guard
from netautod.store.client import Change, Document, Filter
from netautod.store.scoped import OrgCollection

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")
SECONDS = 0.03
MOST = 100  # of one round trip


@dataclass(kw_only=True, eq=False)
class _Call(Generic[T, R]):
    item: T
    guard: Guard
    answer: "asyncio.Future[R]"

    def stands(self) -> bool:
        """Return whether the call is still awaited and its guard lets it pass."""
        if self.answer.done():
            return False
        try:
            self.guard()
        except NetautodError as error:
            self.answer.set_exception(error)
        return not self.answer.done()


@dataclass(kw_only=True, eq=False)
class _Batch(Generic[T, R]):
    calls: list[_Call[T, R]] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None


class Batcher(Generic[K, T, R]):
    """A batcher of database calls. `act` does all calls of a batch with one key and returns results in order;
    an error among them is raised.

    A call returns only when `act` has ended, so what was written is acknowledged. A call that is cancelled
    while its batch waits is dropped; once the batch is under way it happens, as any write would.
    """

    def __init__(
        self,
        act: Callable[[K, Sequence[T]], Awaitable[Sequence[R | NetautodError]]],
        *,
        seconds: float = SECONDS,
        most: int = MOST,
    ) -> None:
        self._act = act
        self._seconds = seconds
        self._most = most
        self._waiting: dict[K, _Batch[T, R]] = {}
        self._acting: set[asyncio.Task[Sequence[R | NetautodError]]] = set()

    async def ask(self, key: K, item: T, work: Work | None = None) -> R:
        """Add a call to the batch of its key and return its result.

        Bulk work waits up to 30 ms for others; any other goes at once and takes along those that wait. The
        guard of the work is called directly before the round trip; what it raises is raised here.
        """
        loop = asyncio.get_running_loop()
        batch = self._waiting.setdefault(key, _Batch())
        call: _Call[T, R] = _Call(
            item=item, guard=no_guard if work is None else work.guard, answer=loop.create_future()
        )
        batch.calls.append(call)
        if work is None or not work.bulk or len(batch.calls) >= self._most:
            self._begin(key)
        elif batch.timer is None:
            batch.timer = loop.call_later(self._seconds, self._begin, key)
        return await within_patience(call.answer)

    def _begin(self, key: K) -> None:
        batch = self._waiting.pop(key)
        if batch.timer is not None:
            batch.timer.cancel()
        calls = [call for call in batch.calls if call.stands()]
        if calls:
            items = [call.item for call in calls]
            task = asyncio.create_task(self._do(key, items), context=context_for_many())
            self._acting.add(task)
            task.add_done_callback(partial(self._answer, calls))

    async def _do(self, key: K, items: Sequence[T]) -> Sequence[R | NetautodError]:
        return await self._act(key, items)

    def _answer(
        self, calls: Sequence[_Call[T, R]], task: "asyncio.Task[Sequence[R | NetautodError]]"
    ) -> None:
        self._acting.discard(task)
        error = None if task.cancelled() else task.exception()
        for at, call in enumerate(calls):
            if call.answer.done():
                continue  # cancelled meanwhile
            if task.cancelled():
                call.answer.cancel()
            elif error is not None:
                call.answer.set_exception(error)
            else:
                _set_answer(call, task.result()[at])


def _set_answer(call: _Call[T, R], answer: R | NetautodError) -> None:
    if isinstance(answer, NetautodError):
        call.answer.set_exception(answer)
    else:
        call.answer.set_result(answer)


def batched_inserts(rows: OrgCollection) -> Batcher[OrgId, Document, None]:
    """Return a batcher of inserts. It raises Duplicate for documents that a unique index refused."""

    async def insert(org_id: OrgId, documents: Sequence[Document]) -> Sequence[Duplicate | None]:
        done = await rows.insert_many(org_id, documents)
        return _refused(len(documents), done.duplicates)

    return Batcher(insert)


def batched_changes(
    rows: OrgCollection, *, upsert: bool = False
) -> Batcher[OrgId, tuple[Filter, Change], None]:
    """Return a batcher of changes of single documents, in any order. It raises Duplicate as
    batched_inserts."""

    async def change(org_id: OrgId, changes: Sequence[tuple[Filter, Change]]) -> Sequence[Duplicate | None]:
        done = await rows.change_batch(org_id, changes, upsert=upsert)
        return _refused(len(changes), done.duplicates)

    return Batcher(change)


def _refused(count: int, duplicates: Sequence[int]) -> Sequence[Duplicate | None]:
    refused = set(duplicates)
    return [Duplicate(()) if at in refused else None for at in range(count)]
