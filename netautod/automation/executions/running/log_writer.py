"""Writes the log lines of one attempt: numbered, capped, in batches, and only while the lease is held."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from netautod.automation.executions.models import LEVELS, LogEntry
from netautod.automation.executions.running.environment import LogLines
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.logs.folding import repeats
from netautod.core.loop.repeating import Repeating
from netautod.core.work.guard import LeaseLostError

logger = logging.getLogger(__name__)
FLUSH_SECONDS = 0.5
FLUSH_LINES = 200
MAX_LINE = 8192


@dataclass(frozen=True, kw_only=True)
class LogLimits:
    lines: int
    bytes: int


class LogWriter:
    """A writer of the log lines of one attempt.

    `known` is awaited before each write to the database: it returns when the run is known to be this node's,
    and raises LeaseLostError when it is not. A line is at most 8,192 bytes of UTF-8, the rest is cut off.
    """

    def __init__(
        self,
        *,
        store: LogLines,
        clock: Clock,
        org_id: OrgId,
        execution_id: str,
        limits: LogLimits,
        known: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._org_id = org_id
        self._execution_id = execution_id
        self._limits = limits
        self._known = known
        self._waiting: list[LogEntry] = []
        self._seq = self._lines = self._bytes = 0
        self._full = False
        self._flusher = Repeating(self._try_flush, name="the flush of a log", seconds=FLUSH_SECONDS)
        self._writing = asyncio.Lock()

    async def open(self, *, first: bool) -> None:
        """Continue the numbers of earlier attempts; the first attempt need not read them."""
        if not first:
            self._seq, self._lines, self._bytes = await self._store.size(self._org_id, self._execution_id)
        # The marker of an earlier attempt is one line over the limit.
        self._full = self._lines > self._limits.lines or self._bytes > self._limits.bytes
        self._flusher.start()

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
            if not self._waiting:
                return
            await self._known()
            batch, self._waiting = self._waiting, []
            try:
                await self._store.append(self._org_id, self._execution_id, batch)
            except Unavailable:
                # Lines that did arrive are recognised by their numbers when they are sent again.
                self._waiting = batch + self._waiting
                raise

    async def flush_rest(self) -> None:
        """Write the lines that are left after `close`.

        Call it only once the database says that the execution is still this node's.
        """
        async with self._writing:
            batch, self._waiting = self._waiting, []
            if batch:
                await self._store.append(self._org_id, self._execution_id, batch)

    async def close(self) -> None:
        """Stop flushing, and take no more lines.

        What still waits may belong to a lease that is gone.
        """
        self._full = True
        await self._flusher.stop()

    def _add(self, level: str, line: str, device_id: str | None) -> None:
        self._seq += 1
        self._lines += 1
        self._bytes += len(line.encode())
        self._waiting.append(
            LogEntry(seq=self._seq, at=self._clock.now(), level=level, device_id=device_id, message=line)
        )

    async def _try_flush(self) -> None:
        try:
            await self.flush()
        except LeaseLostError:
            return  # the executor is being cancelled: its lines wait for its end
        except Unavailable as error:
            logger.warning("log lines of %s wait: %s", self._execution_id, error, extra=repeats("wait"))
