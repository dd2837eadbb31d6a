"""The execution log: append-only lines in their own collection, capped, readable while the run goes on."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.clock import Clock, to_text
from netautod.core.errors import Unavailable
from netautod.core.identity import OrgId
from netautod.store.client import Database, Document
from netautod.store.indexes import Index

logger = logging.getLogger(__name__)
COLLECTION = "execution_log"
INDEXES = (Index(collection=COLLECTION, keys=(("execution_id", 1), ("seq", 1)), unique=True),)
FLUSH_SECONDS = 0.5
FLUSH_LINES = 200
MAX_LINE = 8192
LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    seq: int
    at: datetime
    level: str
    device_id: str | None
    message: str

    def to_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "at": to_text(self.at),
            "level": self.level,
            "device_id": self.device_id,
            "message": self.message,
        }


@dataclass(frozen=True, kw_only=True)
class LogLimits:
    lines: int
    bytes: int


class ExecutionLogStore:
    def __init__(self, database: Database) -> None:
        self._entries = database.scoped(COLLECTION)

    async def append(self, org_id: OrgId, documents: list[Document]) -> None:
        """A line whose number exists already came from a node that lost its lease; the first stays."""
        await self._entries.insert_many(org_id, documents)

    async def size(self, org_id: OrgId, execution_id: str) -> tuple[int, int, int]:
        """(last seq, lines, bytes) so far."""
        found = await self._entries.aggregate(
            org_id,
            [
                {"$match": {"execution_id": execution_id}},
                {
                    "$group": {
                        "_id": None,
                        "last": {"$max": "$seq"},
                        "lines": {"$sum": 1},
                        "bytes": {"$sum": {"$strLenBytes": "$message"}},
                    }
                },
            ],
        )
        return (found[0]["last"], found[0]["lines"], found[0]["bytes"]) if found else (0, 0, 0)

    async def read(self, org_id: OrgId, execution_id: str, after_seq: int, limit: int) -> list[LogEntry]:
        found = await self._entries.find(
            org_id,
            {"execution_id": execution_id, "seq": {"$gt": after_seq}},
            sort=[("seq", 1)],
            limit=limit,
        )
        return [
            LogEntry(
                seq=document["seq"],
                at=document["at"],
                level=document["level"],
                device_id=document["device_id"],
                message=document["message"],
            )
            for document in found
        ]


class LogWriter:
    """Collects the lines of one attempt and writes them in batches; `fence` is asked before each write."""

    def __init__(
        self,
        *,
        store: ExecutionLogStore,
        clock: Clock,
        org_id: OrgId,
        execution_id: str,
        limits: LogLimits,
        fence: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._org_id = org_id
        self._execution_id = execution_id
        self._limits = limits
        self._fence = fence
        self._waiting: list[Document] = []
        self._seq = self._lines = self._bytes = 0
        self._full = False
        self._flusher: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    async def open(self, *, first: bool) -> None:
        """Goes on behind what earlier attempts wrote; the first one need not look."""
        if not first:
            self._seq, self._lines, self._bytes = await self._store.size(self._org_id, self._execution_id)
        # The marker of an earlier attempt is one line over the limit.
        self._full = self._lines > self._limits.lines or self._bytes > self._limits.bytes
        self._flusher = asyncio.create_task(self._flush_often())

    async def write(self, level: str, text: str, device_id: str | None = None) -> None:
        if level not in LEVELS:
            raise ValueError(f"the level of a log line is one of {', '.join(LEVELS)}")
        if self._full:
            return
        line = text.replace("\x00", "\ufffd").encode("utf-8", "replace")[:MAX_LINE].decode("utf-8", "ignore")
        if self._lines >= self._limits.lines or self._bytes + len(line.encode()) > self._limits.bytes:
            self._full = True
            line, level, device_id = "the log is full; further lines are dropped", "warning", None
        self._add(level, line, device_id)
        if len(self._waiting) >= FLUSH_LINES:
            await self._try_flush()

    async def flush(self) -> None:
        async with self._writing:
            batch = self._waiting
            if not batch:
                return
            self._fence()
            self._waiting = []
            try:
                await self._store.append(self._org_id, batch)
            except Unavailable:
                # Lines that did arrive are recognised by their numbers when they are sent again.
                self._waiting = batch + self._waiting
                raise

    async def close(self) -> None:
        """Stops flushing. What still waits belongs to a lease that is gone."""
        if self._flusher is not None:
            self._flusher.cancel()
            await asyncio.gather(self._flusher, return_exceptions=True)

    def _add(self, level: str, line: str, device_id: str | None) -> None:
        self._seq += 1
        self._lines += 1
        self._bytes += len(line.encode())
        self._waiting.append(
            {
                "_id": f"{self._execution_id}:{self._seq}",
                "execution_id": self._execution_id,
                "seq": self._seq,
                "at": self._clock.now(),
                "level": level,
                "device_id": device_id,
                "message": line,
            }
        )

    async def _flush_often(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self._try_flush()

    async def _try_flush(self) -> None:
        try:
            await self.flush()
        except Unavailable as error:
            logger.warning("log lines of %s wait: %s", self._execution_id, error)
