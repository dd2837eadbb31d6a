"""A process that was given up."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """The execution, by the epoch of its claim, that held the event loop up; `text` is what it fails with."""

    execution_id: str
    epoch: int
    text: str


@dataclass(frozen=True, kw_only=True)
class GivenUp:
    """A node that was killed because its event loop was held up; `by` is None if nobody knows who did it."""

    node_id: str
    by: Blocked | None
