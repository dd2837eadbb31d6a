"""What the tick of the loop tells the metrics of a service."""

from types import SimpleNamespace
from typing import cast

from netautod.assembly.base import Base
from netautod.assembly.surroundings import _ticker
from netautod.core.metrics import Metrics
from netautod.core.watch import loop
from netautod.core.watch.board import Board
from tests.support.execution import eventually
from tests.support.observed import observed


async def test_stalls_and_lags_of_the_loop_are_counted() -> None:
    """The watching process writes a stall to the board."""
    board, metrics = Board(), Metrics()
    base = cast(Base, SimpleNamespace(metrics=metrics, watched=SimpleNamespace(board=board)))
    board.count_stall()

    async def seen_late() -> bool:
        return sum(observed(metrics, "loop_lag_seconds").counts) > 0

    async with _ticker(base):
        assert metrics.value("loop_stalls") == 1
        await eventually(seen_late, seconds=loop.TICK_SECONDS + 10)
