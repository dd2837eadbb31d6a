"""The values that a watching process hands to the process that serves."""

from dataclasses import dataclass, field

from netautod.automation.executions.abandoned.models import GivenUp
from netautod.core.watch.board import Board


@dataclass(frozen=True, kw_only=True)
class Watched:
    """The values that a watching process hands over.

    `given_up` are the earlier processes whose runs are to be ended. Without a watching process the board has
    no reader.
    """

    board: Board = field(default_factory=Board)
    given_up: tuple[GivenUp, ...] = ()
