"""The metrics that the ticker of the loop sets."""

from netautod.assembly.base import stall_ticker
from netautod.core.metrics import Metrics
from netautod.core.watch import loop
from netautod.core.watch.board import Board
from tests.support.execution import eventually
from tests.support.observed import observed


async def test_stalls_and_lags_of_the_loop_are_counted() -> None:
    """Count a stall that the watching process has written to the board."""
    board, metrics = Board(), Metrics()
    board.count_stall()

    async def seen_late() -> bool:
        return sum(observed(metrics, "loop_lag_seconds").counts) > 0

    async with stall_ticker(board, metrics):
        assert metrics.value("loop_stalls") == 1
        await eventually(seen_late, seconds=loop.TICK_SECONDS + 10)
