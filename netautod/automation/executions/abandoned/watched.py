"""What a process that serves is given by the one that watches it."""

from dataclasses import dataclass, field

from netautod.automation.executions.abandoned.models import GivenUp
from netautod.core.watch.board import Board


@dataclass(frozen=True, kw_only=True)
class Watched:
    """`given_up`: the processes before it whose runs are to be settled. Without a watching process: nobody
    reads the board."""

    board: Board = field(default_factory=Board)
    given_up: tuple[GivenUp, ...] = ()
