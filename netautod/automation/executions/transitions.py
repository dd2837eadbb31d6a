"""The states of an execution and the only moves between them."""

from typing import Final, Literal

State = Literal["pending", "running", "completed", "failed", "cancelled", "timeout", "approval_pending"]

STATES: Final[tuple[State, ...]] = (
    "pending",
    "running",
    "completed",
    "failed",
    "cancelled",
    "timeout",
    "approval_pending",
)
ACTIVE: Final[tuple[State, ...]] = ("pending", "running", "approval_pending")
CANCELLABLE: Final[tuple[State, ...]] = ACTIVE
TERMINAL: Final[tuple[State, ...]] = ("completed", "failed", "cancelled", "timeout")

TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    # Failed: it blocked a node, and was handed on before that was known.
    "pending": frozenset({"running", "cancelled", "failed"}),
    # Back to pending: a retry, a hand-back by a draining node, a takeover from a dead one.
    "running": frozenset({"completed", "failed", "cancelled", "timeout", "approval_pending", "pending"}),
    # Decided, either way: run again from its saved state. Expired: failed.
    "approval_pending": frozenset({"pending", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
    "timeout": frozenset(),
}


def require(source: State, target: State) -> None:
    """Raise ValueError for a move that is not in TRANSITIONS.

    It guards every state change that the store writes; a violation is a mistake in the program.
    """
    if target not in TRANSITIONS[source]:
        raise ValueError(f"an execution never goes from {source} to {target}")
