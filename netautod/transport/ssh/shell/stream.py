"""The bytes of one channel: a capped buffer that can be waited on, and guarded writes; over SSH here."""

import asyncio
from abc import ABC, abstractmethod
from typing import Any

import asyncssh

from netautod.core.work.guard import Guard

_TAIL_BYTES = 1024  # of the last line; a prompt, a pager or a question is shorter


class ByteStream(ABC):
    """A stream that collects what a channel receives; the subclass (SSH or another transport) sends and
    drops.

    `data` is what came since the last `clear`, `errors` the same of the error stream. At `limit` bytes the
    stream keeps no more and is `flooded`. `ended` is true once nothing more will come; `lost` holds the error
    when the connection, not the channel, was closed.
    """

    def __init__(self, *, guard: Guard, limit: int) -> None:
        self.data = bytearray()
        self.errors = bytearray()
        self.limit = limit
        self.flooded = False
        self.ended = False
        self.lost: Exception | None = None
        self._guard = guard
        self._news = asyncio.Event()

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Return whether something can be sent."""

    @abstractmethod
    def abort(self) -> None:
        """Drop the channel."""

    @abstractmethod
    def _send(self, data: bytes) -> None:
        """Hand the bytes to the channel."""

    def write(self, text: str) -> None:
        """Send text, unless the guard raises."""
        if not self.is_open or self.ended:
            return  # the reader that follows reports the lost connection
        self._guard()
        self._send(text.encode())

    def received(self, data: bytes, *, errors: bool = False) -> None:
        """Take what came; the channel calls this."""
        if len(self.data) + len(self.errors) + len(data) > self.limit:
            self.flooded = True
        else:
            (self.errors if errors else self.data).extend(data)
        self._news.set()

    def closed(self, exc: Exception | None) -> None:
        """Take note of the end; the channel calls this when nothing more will come."""
        self.ended = True
        self.lost = exc
        self._news.set()

    def clear(self) -> None:
        """Forget what came so far."""
        self.data.clear()
        self.errors.clear()

    def last_line(self) -> bytes:
        """Return what came after the last line feed (of a very long line, its end)."""
        return bytes(self.data[max(self.data.rfind(b"\n") + 1, len(self.data) - _TAIL_BYTES) :])

    async def news(self, *, within: float) -> bool:
        """Wait for something to happen; return false when nothing did for `within` seconds."""
        try:
            async with asyncio.timeout(within):
                await self._news.wait()
        except TimeoutError:
            # What came while the process was busy is there in the same turn of the loop as the time limit.
            if not self._news.is_set():
                return False
        self._news.clear()
        return True


class SshStream(ByteStream, asyncssh.SSHClientSession[bytes]):
    """The stream of an SSH channel."""

    def __init__(self, *, guard: Guard, limit: int) -> None:
        super().__init__(guard=guard, limit=limit)
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    def connection_made(self, chan: "asyncssh.SSHClientChannel[bytes]") -> None:
        # asyncssh calls this between opening the channel and sending the command that it shall run: the
        # process may have slept in between, so the lease is looked at here, too.
        self._guard()
        self._channel = chan

    def data_received(self, data: bytes, datatype: Any) -> None:
        self.received(data, errors=datatype is not None)

    def eof_received(self) -> bool:
        return False  # closes our side as well; connection_lost follows

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed(exc)

    @property
    def exit_status(self) -> int | None:
        """The exit status of an exec channel, None as long as there is none."""
        return None if self._channel is None else self._channel.get_exit_status()

    @property
    def is_open(self) -> bool:
        return self._channel is not None

    def abort(self) -> None:
        if self._channel is not None:
            self._channel.abort()

    def _send(self, data: bytes) -> None:
        if self._channel is not None:
            self._channel.write(data)
