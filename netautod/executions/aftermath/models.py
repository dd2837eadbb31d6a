"""A process that was given up."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GivenUp:
    """A node that was killed because its event loop was held up, by this execution if it is known.

    `text` is what the execution fails with.
    """

    node_id: str
    execution_id: str | None
    epoch: int | None
    text: str
