"""The length of a stall of the event loop, counting only time in which it could have gone on; pure."""

from dataclasses import dataclass, field

from netautod.server.watch.samples import GONE, RUNNABLE, STOPPED, Sample


def held_up(before: Sample, now: Sample, *, longest: float) -> float:
    """Return the seconds between two looks in which the thread ran or waited of its own accord.

    Not: stopped or traced, without a processor, waiting for its own pages to be read in. Between looks that
    are further apart than `longest` the watching process did not run, so most likely nothing did.
    """
    passed = min(now.at - before.at, longest)
    if now.state in STOPPED or now.state in GONE:
        return 0.0
    ran = max(0.0, now.on_cpu - before.on_cpu)
    if now.state == RUNNABLE:
        return min(passed, ran)
    if now.page_ins > before.page_ins:
        return min(passed, ran)
    return max(0.0, passed - (now.waited - before.waited))


@dataclass(kw_only=True)
class Stall:
    """A stall in progress: `seconds` are those counted, by `look`s that come every so often."""

    longest: float
    seconds: float = 0.0
    named: bool = False
    _ran: float = 0.0
    _last: Sample | None = field(default=None)

    def look(self, now: Sample) -> None:
        if self._last is not None:
            self.seconds += held_up(self._last, now, longest=self.longest)
            self._ran += max(0.0, now.on_cpu - self._last.on_cpu)
        self._last = now

    @property
    def waits(self) -> bool:
        """Return whether the main thread hardly ran: another one may hold the interpreter lock.

        The state at one look does not tell: a thread that waits for the lock requests it every 5 ms, and may
        wait for a processor just then. A thread of Python code that competes with it leaves it half of the
        time.
        """
        return self._ran < self.seconds / 4
