"""The body of a request while it arrives, within its own limit and what all bodies of the node may take."""

from netautod.core.errors import Overloaded, TooLarge
from netautod.http.bodies.fair_share import FairShare

RETRY_AFTER = 5
BLOCK = 64 * 1024


class ReceivedBody:
    """The body of one request as it arrives.

    What is too large, not wanted, or has no room is dropped as it comes: the client gets an answer, not a
    reset.
    """

    def __init__(self, *, limit: int, kept: bool, shares: FairShare, owner: str) -> None:
        self._limit = limit
        # Blocks: one array that grows would leave holes in the memory, many small pieces would take far more.
        self._blocks: list[bytes] = []
        self._rest = bytearray()
        self._size = 0
        self._too_large = False
        self._crowded_out = False
        self._kept = kept
        self.whole = False
        self._share = shares.enter(owner, self._give_way)

    def announce(self, length: int) -> None:
        """Note the length that the client announces."""
        self._too_large = length > self._limit

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._too_large = True
        if self._too_large:
            self.leave()
        elif self._kept and not self._crowded_out:
            self._rest += piece
            if len(self._rest) >= BLOCK:
                self._blocks.append(bytes(self._rest))
                self._rest.clear()
            self._share.grow(len(piece))

    def complete(self) -> None:
        """Keep the whole body until `leave`. Raises TooLarge, or Overloaded if it gave way."""
        self.check_length()
        if self._crowded_out:
            raise Overloaded("Too many large bodies arrive at once", retry_after=RETRY_AFTER)
        self._share.settle()
        self.whole = True

    def check_length(self) -> None:
        if self._too_large:
            raise TooLarge(f"The request body is larger than {self._limit} bytes")

    @property
    def parts(self) -> tuple[bytes, ...]:
        """The body in order, without a copy of the whole."""
        return (*self._blocks, bytes(self._rest))

    @property
    def is_blank(self) -> bool:
        """Return whether there is nothing in the body but white space."""
        return not any(part.strip() for part in self.parts)

    def take(self) -> bytes:
        """Return the body and let go of it, so that a large one is not held twice; it counts until
        `leave`.
        """
        data = b"".join((*self._blocks, self._rest))
        self._forget()
        return data

    def leave(self) -> None:
        self._forget()
        self._share.leave()

    def _give_way(self) -> None:
        self._crowded_out = True
        self._forget()

    def _forget(self) -> None:
        self._blocks.clear()
        self._rest.clear()
