"""The database server's clock, followed from this node: due times are judged by one clock for all nodes.

It also notices when that clock or the machine's own is set, and when the two differ.
"""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from netautod.core.clock import whole_milliseconds
from netautod.core.errors import Unavailable
from netautod.core.loop.repeating import Repeating
from netautod.core.metrics import Metrics
from netautod.store.client import Database
from netautod.store.clock.readings import UNCHANGED, ClockReading, Look

logger = logging.getLogger(__name__)
NOTEWORTHY = timedelta(seconds=2)
# Goes on while the machine is suspended, as the clock of another machine does; Linux alone has it.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady_seconds() -> float:
    """Return the seconds of a clock that nobody sets and no suspension stops."""
    return time.clock_gettime(_STEADY)


def _machine_time() -> datetime:
    return datetime.now(UTC)


class ServerClock:
    """A clock of the database server: `now()` is its last answer plus what this machine counted since.

    A node whose own clock is minutes off, or is set while the service runs, computes the same times as the
    others. `steady` counts the seconds, `machine` is the machine's own clock.
    """

    def __init__(
        self,
        database: Database,
        *,
        metrics: Metrics | None = None,
        refresh_seconds: float = 30.0,
        steady: Callable[[], float] = steady_seconds,
        machine: Callable[[], datetime] = _machine_time,
    ) -> None:
        self.steady = steady
        self._machine_time = machine
        self._database = database
        self._metrics = metrics or Metrics()
        self._server: ClockReading | None = None
        self._machine: ClockReading | None = None
        self._last_look = self._answered = 0  # looks, by their numbers
        self._differs = False
        self._jumped_at: float | None = None
        self.times_set_back = 0
        self._loop = Repeating(self._follow, name="the look at the server's clock", seconds=refresh_seconds)

    async def __aenter__(self) -> "ServerClock":
        await self.refresh()
        self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.stop()

    def now(self) -> datetime:
        last = self._server
        if last is None:
            return whole_milliseconds(self._machine_time())
        return whole_milliseconds(last.shown + timedelta(seconds=self.steady() - last.middle))

    def monotonic(self) -> float:
        return time.monotonic()

    async def refresh(self) -> timedelta:
        """Look at the server's clock; return how far it was set since the last look."""
        look = self.begin_look()
        return self.observe(await self._database.now(), look)

    def begin_look(self) -> Look:
        """Return the look that a request begins, to be given to `observe` with its answer."""
        self._last_look += 1
        return Look(number=self._last_look, sent=self.steady())

    def observe(self, shown: datetime, look: Look) -> timedelta:
        """Follow the server's clock as the answer to the request of the look has shown it.

        Returns how far it was set since the last answer (negative: back). Jumps of both clocks are logged and
        counted here, once each. An answer that comes after that of a later look tells nothing: its time may
        be one from before a jump that is known by now.
        """
        if look.number < self._answered:
            return UNCHANGED
        self._answered = look.number
        reading, before = ClockReading(shown=shown, sent=look.sent, received=self.steady()), self._server
        self._server = reading
        self._look_at_own_clock()
        self._compare(reading)
        jump = UNCHANGED if before is None else reading.jump_since(before)
        if jump:
            self._jumped_at = self.monotonic()
            self.times_set_back += jump < UNCHANGED
            self._note("database", "the database server's clock", jump)
        return jump

    async def settled(self, seconds: float) -> bool:
        """Return whether the server's clock has not jumped for so long, as a look at it says now."""
        await self.refresh()
        return not self.jumped_within(seconds)

    def jumped_within(self, seconds: float) -> bool:
        """Return whether the server's clock was seen to jump lately: leases may be younger than they look."""
        return self._jumped_at is not None and self.monotonic() - self._jumped_at < seconds

    def _look_at_own_clock(self) -> None:
        sent = self.steady()
        reading = ClockReading(shown=self._machine_time(), sent=sent, received=self.steady())
        before, self._machine = self._machine, reading
        jump = UNCHANGED if before is None else reading.jump_since(before)
        if jump:
            self._note("node", "this machine's clock", jump)

    def _note(self, clock: str, name: str, jump: timedelta) -> None:
        direction = "back" if jump < UNCHANGED else "forward"
        self._metrics.add("clock_jumps", 1, clock, direction)
        logger.warning("%s was set %s by %.1f s", name, direction, abs(jump).total_seconds())

    def _compare(self, server: ClockReading) -> None:
        """Warn once when this machine's clock begins to differ from the server's, and say when it no longer
        does.
        """
        assert self._machine is not None
        passed = timedelta(seconds=self._machine.middle - server.middle)
        ahead = self._machine.shown - server.shown - passed
        differs = abs(ahead) - server.uncertainty > NOTEWORTHY
        if differs and not self._differs:
            logger.warning(
                "this machine's clock is %+.1f s from the database server's, which decides when tasks run: "
                "let both follow NTP",
                ahead.total_seconds(),
            )
        elif self._differs and abs(ahead) + server.uncertainty <= NOTEWORTHY:
            logger.info("this machine's clock agrees with the database server's again")
        else:
            return
        self._differs = differs

    async def _follow(self) -> None:
        try:
            await self.refresh()
        except Unavailable:
            logger.debug("the server's time could not be read; the old offset stays")
