"""The bytes that a client sends, read no further than is needed."""

import re

from tornado.iostream import IOStream

BLOCK = 64 * 1024


class TooLong(Exception):  # it is no failure of ours
    """The end did not come within the limit."""


class Incoming:
    """A buffer of what arrived beyond the piece that was read: at most a block and the piece."""

    def __init__(self, stream: IOStream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    @property
    def buffered(self) -> bytes:
        """The bytes that have arrived and were not taken."""
        return bytes(self._buffer)

    async def begin(self, skip: bytes = b"\r\n", limit: int = 16) -> None:
        """Wait for a byte that is none of those to skip. Raises TooLong after too many of these."""
        while True:
            while self._buffer and self._buffer[0] in skip:
                limit -= 1
                if limit < 0:
                    raise TooLong
                del self._buffer[:1]
            if self._buffer:
                return
            await self._fill()

    async def until(self, end: re.Pattern[bytes], limit: int) -> bytes:
        """Return all up to and with the end, which has at most 4 bytes. Raises TooLong."""
        searched = 0
        while True:
            found = end.search(self._buffer, searched)
            if found is not None and found.end() <= limit:
                return self._take(found.end())
            if found is not None or len(self._buffer) > limit:
                raise TooLong
            searched = max(0, len(self._buffer) - 3)
            await self._fill()

    async def some(self, most: int) -> bytes:
        """Return at least one byte and at most so many."""
        if not self._buffer:
            await self._fill()
        return self._take(min(most, len(self._buffer)))

    async def exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            await self._fill()
        return self._take(size)

    def _take(self, size: int) -> bytes:
        piece = bytes(self._buffer[:size])
        del self._buffer[:size]
        return piece

    async def _fill(self) -> None:
        self._buffer += await self._stream.read_bytes(BLOCK, partial=True)
