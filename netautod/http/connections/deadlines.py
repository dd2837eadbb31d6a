"""Deadlines of a client: to begin, to send its request's head and body, and to take its answer."""

from dataclasses import dataclass
from enum import Enum, auto

from netautod.http.settings import ServerSettings

UNKNOWN_SIZE = 2**63
"""How large a body is, while it has not come to its end: no stretch of it is all of it."""


class Stage(Enum):
    IDLE = auto()  # between two requests
    HEAD = auto()  # from the first byte, or a new connection (with its TLS handshake), to the end of the head
    BODY = auto()  # from the end of the head, if there is a body
    WORK = auto()  # the request is complete
    STREAM = auto()  # the handler goes on answering for as long as the client stays
    ANSWER = auto()  # the handler is done; the client takes what was written
    ENDING = auto()  # answered before all was read: what still comes is dropped


@dataclass(frozen=True, kw_only=True)
class Deadlines:
    """The seconds of each stage. `bytes_per_second`: the least speed of a body or a large answer."""

    head: float
    body: float
    answer: float
    idle: float
    bytes_per_second: float

    @classmethod
    def of(cls, server: ServerSettings) -> "Deadlines":
        """Return the deadlines of the settings."""
        return cls(
            head=server.header_timeout,
            body=server.body_timeout,
            answer=server.answer_timeout,
            idle=server.idle_timeout,
            bytes_per_second=server.bytes_per_second,
        )

    @property
    def shortest(self) -> float:
        return min(self.head, self.body, self.answer, self.idle)


class Window:
    """The progress of bytes: each `seconds` have to bring `enough`, or all that there was at their
    beginning.
    """

    def __init__(self, *, seconds: float, enough: float) -> None:
        self._seconds = seconds
        self._enough = enough
        self._until: float | None = None
        self._from = 0
        self._all = 0

    def too_slow(self, now: float, done: int, wanted: int) -> bool:
        """Return whether the time is over. `done` bytes of `wanted` have come; both only ever grow."""
        if done >= wanted:
            self._until = None
        elif self._until is None or (now >= self._until and self._has_gone_on(done)):
            self._until, self._from, self._all = now + self._seconds, done, wanted
        return self._until is not None and now >= self._until

    def _has_gone_on(self, done: int) -> bool:
        return done >= self._all or done - self._from >= self._enough


class Timing:
    """The stage of one connection and what is left of it. Pure: its caller passes the time."""

    def __init__(self, deadlines: Deadlines, now: float) -> None:
        self._deadlines = deadlines
        self.stage = Stage.HEAD
        self._since = now
        self._body = 0
        self._body_window = self._new_window(deadlines.body)
        self._answer_window = self._new_window(deadlines.answer)

    def enter(self, stage: Stage, now: float) -> None:
        self.stage, self._since = stage, now
        if stage is Stage.BODY:
            self._body = 0
            self._body_window = self._new_window(self._deadlines.body)
            self._body_window.too_slow(now, 0, UNKNOWN_SIZE)

    def received(self, size: int) -> None:
        self._body += size

    def overdue(self, now: float, *, taken: int, written: int) -> bool:
        """Return whether the client takes too long.

        `taken`: bytes of all answers so far that the client took, of those that were `written`.
        """
        if self._answer_window.too_slow(now, taken, written):
            return True
        if self.stage is Stage.BODY:
            return self._body_window.too_slow(now, self._body, UNKNOWN_SIZE)
        limit = {
            Stage.IDLE: self._deadlines.idle,
            Stage.HEAD: self._deadlines.head,
            Stage.ENDING: self._deadlines.body,
        }
        return now - self._since >= limit.get(self.stage, float("inf"))

    def _new_window(self, seconds: float) -> Window:
        return Window(seconds=seconds, enough=seconds * self._deadlines.bytes_per_second)
