"""The culprit of a stall: the run whose code holds the event loop up, and where that is."""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.automation.executions.abandoned.models import Blocked, GivenUp
from netautod.core.watch.board import Board, MarkedRun
from netautod.server.watch.samples import seconds_computing
from netautod.server.watch.stacks import MAIN, Frame, by_thread
from netautod.server.watch.stall import Stall

SHOWN_FRAMES = 20


@dataclass(frozen=True, kw_only=True)
class Culprit:
    """A run, if it is one's code, and the frames that do it, innermost first."""

    run: MarkedRun | None
    frames: Sequence[Frame]

    def __str__(self) -> str:
        run = self.run
        if run is None:
            return "code that belongs to no run"
        return f"the task {run.task!r} (execution {run.execution_id}) in the plugin {run.plugin}"

    @property
    def stack(self) -> str:
        return " < ".join(str(frame) for frame in self.frames[:SHOWN_FRAMES]) or "none could be had"

    def given_up(self, node_id: str, seconds: float) -> GivenUp:
        if self.run is None:
            return GivenUp(node_id=node_id, by=None)
        place = f" ({self.frames[0].place})" if self.frames else ""
        text = f"the run blocked its node for {seconds:.0f} seconds in the plugin {self.run.plugin}{place}"
        blocked = Blocked(execution_id=self.run.execution_id, epoch=self.run.epoch, text=text)
        return GivenUp(node_id=node_id, by=blocked)


class Inquiry:
    """An inquiry, started when a stall is first seen: what threads compute from then on shows the culprit."""

    def __init__(self, board: Board, pid: int) -> None:
        self._board = board
        self._pid = pid
        self._before = {run.thread: seconds_computing(pid, run.thread) for run in board.threads()}

    def culprit(self, stall: Stall, dump: str) -> Culprit:
        stacks = by_thread(dump)
        run = self._board.current()
        if run is not None or not stall.waits:
            return Culprit(run=run, frames=stacks.get(MAIN, ()))
        busy = self._busy_thread(stall.seconds)
        return Culprit(run=busy, frames=stacks.get(MAIN if busy is None else busy.ident, ()))

    def _busy_thread(self, seconds: float) -> MarkedRun | None:
        """Return the thread that computes while the loop waits: it holds the interpreter lock, in a C
        function.

        On a loaded machine it waits for a processor itself for most of the time, and holds the lock then.
        """
        spent = [
            (seconds_computing(self._pid, run.thread) - self._before.get(run.thread, 0.0), run)
            for run in self._board.threads()
        ]
        if not spent:
            return None
        most, run = max(spent, key=lambda one: one[0])
        return run if most > seconds / 2 else None
