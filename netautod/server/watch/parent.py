"""The watching process: forks the one that serves, hands signals on to it, and starts it again if it must.

It has loaded everything and done nothing: no loop, no threads, no connections. So a fork of it costs neither
time nor, but for what is changed, memory; what it holds is the listening socket.
"""

import ctypes
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from netautod.automation.executions.abandoned.models import GivenUp
from netautod.automation.executions.abandoned.watched import Watched
from netautod.core.errors import NetautodError
from netautod.core.watch.board import Board
from netautod.server.watch import systemd
from netautod.server.watch.samples import sample
from netautod.server.watch.stacks import Stacks
from netautod.server.watch.stall import Stall
from netautod.server.watch.verdict import Inquiry

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.25
START_LOOK_SECONDS = 0.02  # a program that waits for the service to be ready waits for our look, too
NAME_SECONDS = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
STEADY_SECONDS = 60.0
_PR_SET_PDEATHSIG = 1
# Handed on to the service, which does with them what it would do without us.
HANDED_ON = (
    *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2),
    *(signal.SIGALRM, signal.SIGWINCH),
)
STOPPING = (signal.SIGTERM, signal.SIGINT)
WAITED_FOR = frozenset({*HANDED_ON, signal.SIGCHLD})


class EndedError(NetautodError):
    """The process that serves ended, by a signal, before it was ready; one line for the operator."""


class Parent:
    """The watching process. `run` returns twice: the exit code, in this process, and what `serve` returns, in
    the one that serves.

    `give_up_seconds`: of being held up; 0: never. `notify` sends to systemd; `watchdog_seconds` between two
    signs of life, which end while the event loop is held up. `restarts` that others have counted before.
    """

    def __init__(
        self,
        serve: Callable[[Watched], int],
        *,
        give_up_seconds: float,
        notify: Callable[[str], None],
        watchdog_seconds: float | None = None,
        restarts: int = 0,
    ) -> None:
        self._serve = serve
        self._give_up_seconds = give_up_seconds
        self._name_seconds = min(NAME_SECONDS, give_up_seconds / 2 or NAME_SECONDS)
        self._notify = notify
        self._watchdog_seconds = watchdog_seconds
        self._alive_at, self._alive_ticks = 0.0, 0
        self._extended_at = -systemd.ASK_SECONDS
        self._board = Board()
        self._board.count_restarts(restarts)
        self._stacks = Stacks()
        self._given_up: list[GivenUp] = []
        self._was_ready = False
        self._pid = os.getpid()
        self._sent: set[int] = set()

    def run(self) -> int:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
        _warn_of_threads()
        gc.collect()
        gc.freeze()  # a collection would change, and so copy, every page that the processes share
        pause = FIRST_PAUSE
        while True:
            self._board.clear()
            started_at = time.monotonic()
            pid = _fork()
            if pid == 0:
                return self._be_the_service(before)
            child = _Child(pid, self._board, self._stacks)
            code = self._watch(child)
            if code is not None:
                return code
            self._board.count_restarts(1)
            if time.monotonic() - started_at > STEADY_SECONDS:
                pause = FIRST_PAUSE
            if not child.given_up:  # that has taken its time already
                if (code := self._wait(pause)) is not None:
                    return code
                pause = min(pause * 2, LONGEST_PAUSE)

    def _be_the_service(self, mask: set[int | signal.Signals]) -> int:
        tie_to(self._pid)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._stacks.register()
        return self._serve(Watched(board=self._board, given_up=tuple(self._given_up)))

    def _watch(self, child: "_Child") -> int | None:
        """Watch until the process has ended; return the exit code to end with, None to start it again."""
        ready, reloads = False, 0
        while (status := child.ended()) is None:
            if not ready and self._board.ready:
                ready = self._was_ready = True
                self._notify(systemd.READY)
            if self._board.reloads != reloads:
                reloads = self._board.reloads
                self._notify(systemd.READY)
            if self._given_up and self._board.settled:
                self._given_up.clear()
            number = signal.sigtimedwait(WAITED_FOR, LOOK_SECONDS if ready else START_LOOK_SECONDS)
            if number is not None and number.si_signo in HANDED_ON:
                self._hand_on(child, signal.Signals(number.si_signo))
            self._look(child, ready=ready)
            self._ask_for_time()
            self._say_alive(ready=ready)
        return self._after(child, os.waitstatus_to_exitcode(status), ready=ready)

    def _hand_on(self, child: "_Child", number: signal.Signals) -> None:
        if number in STOPPING and not self._stopping:
            self._notify(systemd.STOPPING)
        elif number == signal.SIGHUP:
            if not self._board.ready:
                return  # it reads everything anyway
            self._notify(systemd.reloading())
        self._sent.add(number)
        child.send(number)

    def _ask_for_time(self) -> None:
        """Request more time from systemd while the data are migrated: a start may take longer then."""
        now = time.monotonic()
        if self._board.migrating and now - self._extended_at >= systemd.ASK_SECONDS:
            self._extended_at = now
            self._notify(systemd.longer())

    def _say_alive(self, *, ready: bool) -> None:
        """Send a sign of life unless the event loop has not turned since the last one.

        A process that is being started has no loop yet; for how long it may is another limit of systemd's.
        """
        if self._watchdog_seconds is None or time.monotonic() - self._alive_at < self._watchdog_seconds:
            return
        ticks = self._board.ticks
        if ready and ticks and ticks == self._alive_ticks:
            return
        self._alive_at, self._alive_ticks = time.monotonic(), ticks
        self._notify(systemd.ALIVE)

    @property
    def _stopping(self) -> bool:
        return not self._sent.isdisjoint(STOPPING)

    def _look(self, child: "_Child", *, ready: bool) -> None:
        seconds = child.look(self._name_seconds)
        # One that is not ready yet has nothing to lose, and would be as slow when it is started again.
        if ready and self._give_up_seconds and seconds >= self._give_up_seconds:
            self._given_up.append(child.give_up())

    def _after(self, child: "_Child", code: int, *, ready: bool) -> int | None:
        if code == 0 or self._stopping or -code in self._sent:
            return code if code >= 0 else 128 - code  # as a shell has it
        if child.given_up:
            return None
        if code < 0:
            text = f"the process that serves was ended by {_name(-code)}"
            if not self._was_ready:
                raise EndedError(text)
            logger.error("%s", text)
            return None
        if ready or not self._was_ready:
            return code  # it has said why it cannot start, or cannot go on
        return None  # it has been ready before: what it needs may come back

    def _wait(self, seconds: float) -> int | None:
        """Pause before the next start; return the exit code if a signal ends the pause."""
        logger.error("starting the service again in %g s", seconds)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            got = signal.sigtimedwait(WAITED_FOR, min(left, LOOK_SECONDS))
            self._say_alive(ready=False)
            if got is not None and got.si_signo in STOPPING:
                return 0
        return None


class _Child:
    """The process that serves, as it is watched."""

    def __init__(self, pid: int, board: Board, stacks: Stacks) -> None:
        self._pid = pid
        self._board = board
        self._stacks = stacks
        self._ticks = 0
        self._stall: Stall | None = None
        self._inquiry = Inquiry(board, pid)
        self._dump = ""
        self._dump_requested = False
        self.given_up = False

    def ended(self) -> int | None:
        """Return its status once it has ended."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        return status if pid else None

    def send(self, number: signal.Signals) -> None:
        os.kill(self._pid, number)  # it is not waited for yet, so the number is not another's

    def look(self, name_seconds: float) -> float:
        """Return for how long its event loop has been held up; log the culprit once that is
        `name_seconds`.
        """
        ticks = self._board.ticks
        if ticks != self._ticks or ticks == 0:
            self._ticks = ticks
            self._over()
            return 0.0
        if self._stall is None:
            self._stall = Stall(longest=2 * LOOK_SECONDS)
            self._inquiry = Inquiry(self._board, self._pid)
        if (now := sample(self._pid)) is not None:
            self._stall.look(now)
        self._name(self._stall, name_seconds)
        return self._stall.seconds

    def _name(self, stall: Stall, seconds: float) -> None:
        if stall.seconds >= seconds and not self._dump_requested:
            self._dump_requested = True
            self._board.count_stall()
            self._stacks.ask(self._pid)
        elif self._dump_requested:
            self._dump += self._stacks.read()
            # Without an answer after as long again the thread hangs in the kernel.
            if not stall.named and (self._dump or stall.seconds >= 2 * seconds):
                stall.named = True
                self._log_stall(stall)

    def _log_stall(self, stall: Stall) -> None:
        culprit = self._inquiry.culprit(stall, self._dump)
        logger.error(
            "the event loop is held up for %.1f s by %s; stack: %s", stall.seconds, culprit, culprit.stack
        )

    def _over(self) -> None:
        stall, self._stall = self._stall, None
        if stall is not None and self._dump_requested:
            if not stall.named:
                self._dump += self._stacks.read()
                self._log_stall(stall)
            logger.warning("the event loop goes on after %.1f s", stall.seconds)
        self._dump_requested, self._dump = False, ""

    def give_up(self) -> GivenUp:
        """Kill it; return what it was doing by then."""
        assert self._stall is not None
        self._dump += self._stacks.read()
        culprit = self._inquiry.culprit(self._stall, self._dump)
        seconds = self._stall.seconds
        os.kill(self._pid, signal.SIGKILL)
        os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        self.given_up = True
        logger.error("the process is given up after %.1f s: %s; it is started again", seconds, culprit)
        return culprit.given_up(self._board.node_id, seconds)


def tie_to(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, however that may be (prctl(2))."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(1)


def _fork() -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    return os.fork()


def _warn_of_threads() -> None:
    """Warn of threads that do not come along into a fork: code that started some waits for them in vain."""
    others = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    if others:
        logger.warning("a plugin has started threads while it was imported, which end now: %s", others)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
