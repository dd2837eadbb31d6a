"""The table of states allows these moves and no other."""

import pytest

from netautod.automation.executions.transitions import (
    ACTIVE,
    STATES,
    TERMINAL,
    TRANSITIONS,
    State,
    require,
)

ALLOWED = {
    ("pending", "running"),
    ("pending", "cancelled"),
    ("pending", "failed"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("running", "timeout"),
    ("running", "approval_pending"),
    ("running", "pending"),
    ("approval_pending", "pending"),
    ("approval_pending", "failed"),
    ("approval_pending", "cancelled"),
}


@pytest.mark.parametrize("source", STATES)
@pytest.mark.parametrize("target", STATES)
def test_only_the_specified_moves_are_allowed(source: State, target: State) -> None:
    if (source, target) in ALLOWED:
        require(source, target)
    else:
        with pytest.raises(ValueError, match=f"never goes from {source} to {target}"):
            require(source, target)


def test_terminal_states_have_no_way_out() -> None:
    assert set(ACTIVE) | set(TERMINAL) == set(STATES)
    assert all(not TRANSITIONS[state] for state in TERMINAL)
