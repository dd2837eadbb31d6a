"""The framing of NETCONF over SSH (RFC 6242): the end mark of version 1.0, the chunks of 1.1. Pure."""

from collections.abc import Iterator

END = b"]]>]]>"
MOST_BYTES = 64 * 1024 * 1024  # of one message
MOST_DIGITS = 10  # of the size of a chunk: up to 4294967295


class BadFraming(Exception):
    """Raised for data that is no message; the session cannot go on."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def encoded(message: bytes, *, chunked: bool) -> bytes:
    """Return one message as it is sent."""
    if not chunked:
        return message + END
    return b"\n#%d\n%b\n##\n" % (len(message), message)


class Decoder:
    """A decoder that gathers messages out of pieces of any size. `chunked` is set when both sides have said
    1.1.
    """

    def __init__(self) -> None:
        self.chunked = False
        self._waiting = bytearray()
        self._message = bytearray()
        self._looked = 0  # bytes of what waits that hold no end mark

    def feed(self, data: bytes) -> None:
        """Take a piece. Raises BadFraming for more than a message may have."""
        self._waiting += data
        if len(self._waiting) + len(self._message) > MOST_BYTES:
            raise BadFraming(f"the answer is longer than {MOST_BYTES} bytes")

    def messages(self) -> Iterator[bytes]:
        """Yield the complete messages; it may be called again after the next piece. Raises BadFraming."""
        while (message := self._chunks() if self.chunked else self._to_mark()) is not None:
            yield message

    def _to_mark(self) -> bytes | None:
        place = self._waiting.find(END, self._looked)
        if place < 0:
            self._looked = max(0, len(self._waiting) - len(END))
            return None
        message = bytes(self._waiting[:place])
        del self._waiting[: place + len(END)]
        self._looked = 0
        return message

    def _chunks(self) -> bytes | None:
        while True:
            head = self._head()
            if head is None:
                return None
            size, length = head
            if size == 0:
                del self._waiting[:length]
                message, self._message = bytes(self._message), bytearray()
                return message
            if len(self._waiting) < length + size:
                return None
            self._message += self._waiting[length : length + size]
            del self._waiting[: length + size]

    def _head(self) -> tuple[int, int] | None:
        """Return the size of the next chunk, 0 for the end of the message, and the length of the
        head itself.
        """
        start = bytes(self._waiting[: MOST_DIGITS + 4])
        if not b"\n#".startswith(start[:2]):
            raise BadFraming("a chunk does not begin with a line and #")
        end = start.find(b"\n", 2)
        if end < 0:
            if len(start) >= MOST_DIGITS + 4:
                raise BadFraming("the size of a chunk does not end")
            return None
        size = start[2:end]
        if size == b"#":
            return 0, end + 1
        if not size.isdigit() or size.startswith(b"0") or int(size) > MOST_BYTES:
            raise BadFraming("the size of a chunk is none")
        return int(size), end + 1
