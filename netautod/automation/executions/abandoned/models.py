"""A process that its watchdog has killed, and the run that blocked it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """The execution that held up the event loop.

    `epoch` is that of its claim; `text` becomes its error message.
    """

    execution_id: str
    epoch: int
    text: str


@dataclass(frozen=True, kw_only=True)
class GivenUp:
    """A node that was killed because its event loop was held up.

    `by` is the execution that did it, None if that is unknown.
    """

    node_id: str
    by: Blocked | None
