"""Appends events to the chains of organizations: one write at a time for each, shared by all who wait.

Several nodes append to one chain without a lock: each numbers its events behind the newest that it knows, a
unique index gives a number to one of them, and the others continue behind that one. So a node that dies or
stalls does not hold up the others.
"""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from netautod.activity.audit.chain.links import Link, chained
from netautod.activity.audit.chain.store import ChainStore
from netautod.activity.audit.models import AuditEvent
from netautod.core.errors import NetautodError, Unavailable
from netautod.core.identity.audit_trace import note_events
from netautod.core.identity.caller import OrgId
from netautod.core.logs.folding import repeats
from netautod.core.work.deadlines import context_for_many, within_patience

logger = logging.getLogger(__name__)
MOST = 200  # events of one write; hashing them takes about 5 ms of the event loop
ATTEMPTS = 200
LONGEST_WAIT = 0.05


@dataclass(kw_only=True, eq=False)
class _Call:
    events: Sequence[AuditEvent]
    answer: "asyncio.Future[None]"


@dataclass(kw_only=True, eq=False)
class _Line:
    """The calls that wait to append to one chain, and the write that is under way."""

    waiting: list[_Call] = field(default_factory=list)
    writing: "asyncio.Task[None] | None" = None

    def take(self) -> list[_Call]:
        """Remove the first waiting calls, as many as one write carries, and return them."""
        taken, size = [self.waiting.pop(0)], 0
        while self.waiting and size + len(taken[-1].events) < MOST:
            size += len(taken[-1].events)
            taken.append(self.waiting.pop(0))
        return taken


class Appender:
    """An appender to the chains of all organizations.

    `sleep` waits after a lost race for a number.
    """

    def __init__(
        self, store: ChainStore, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._store = store
        self._sleep = sleep
        self._lines: dict[OrgId, _Line] = {}
        self._newest: dict[OrgId, Link] = {}

    async def append(self, org_id: OrgId, events: Sequence[AuditEvent]) -> None:
        """Append the events in their order; returns when they are stored.

        A caller that is cancelled meanwhile has its events appended all the same. Raises Unavailable if they
        may not be stored.
        """
        for first in range(0, len(events), MOST):
            await self._append(org_id, events[first : first + MOST])
        note_events(len(events))

    async def _append(self, org_id: OrgId, events: Sequence[AuditEvent]) -> None:
        line = self._lines.setdefault(org_id, _Line())
        call = _Call(events=events, answer=asyncio.get_running_loop().create_future())
        line.waiting.append(call)
        if line.writing is None:
            self._begin(org_id, line)
        await within_patience(call.answer)

    def _begin(self, org_id: OrgId, line: _Line) -> None:
        calls = line.take()
        events = [event for call in calls for event in call.events]
        line.writing = asyncio.create_task(self._write(org_id, events), context=context_for_many())
        line.writing.add_done_callback(partial(self._ended, org_id, line, calls))

    def _ended(self, org_id: OrgId, line: _Line, calls: Sequence[_Call], task: "asyncio.Task[None]") -> None:
        line.writing = None
        for call in calls:
            if call.answer.done():
                continue  # its caller was cancelled
            if task.cancelled():
                call.answer.cancel()
            elif (error := task.exception()) is not None:
                call.answer.set_exception(error)
            else:
                call.answer.set_result(None)
        if line.waiting:
            self._begin(org_id, line)
        else:
            self._lines.pop(org_id, None)

    async def _write(self, org_id: OrgId, events: Sequence[AuditEvent]) -> None:
        rest = events
        try:
            for attempt in range(ATTEMPTS):
                rest = rest[await self._insert(org_id, rest) :]
                if not rest:
                    break
                await self._sleep(random.uniform(0, min(LONGEST_WAIT, 0.001 * 2 ** min(attempt, 10))))
            else:
                raise Unavailable("The audit log is too busy at the moment")
        except NetautodError:
            # The recorded changes have happened: the service log keeps the events.
            for event in rest:
                logger.error(
                    "an audit event may be missing from the database: %s", json.dumps(event.to_json())
                )
            raise
        await self._note_head(org_id)

    async def _insert(self, org_id: OrgId, events: Sequence[AuditEvent]) -> int:
        # The newest link is forgotten until the write is acknowledged: a lost write may have stored any part.
        before = self._newest.pop(org_id, None) or await self._store.newest(org_id)
        links = chained(before, events)
        inserted = await self._store.insert(links)
        if inserted == len(links):
            self._newest[org_id] = links[-1].link
        return inserted

    async def _note_head(self, org_id: OrgId) -> None:
        """Store the newest link beside the chain.

        If the node dies before, the head is behind, which is no fault of the chain.
        """
        try:
            await self._store.note_head(org_id, self._newest[org_id])
        except Unavailable:
            text = "the head of an audit chain could not be stored: the next event stores it"
            logger.warning(text, extra=repeats("head"))
