"""The decisions of a due scan before they are written, and how they are counted once they are.

Every node decides about every due task, and about the same ticks again when a write has failed. So a tick
counts for the node whose write succeeded: an execution for the one that inserted it, ticks without a run for
the one that advanced the schedule. What a write did before it failed counts for no node.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from netautod.automation.executions.models import Execution
from netautod.automation.tasks.decide import Fire, Skip
from netautod.automation.tasks.models import Task
from netautod.core.metrics import Metrics

Move = tuple[Task, datetime]


class Unrun(NamedTuple):
    """The ticks of one task that get no run, by their reason."""

    skipped: int
    missed: int
    blocked: int = 0


NONE = Unrun(skipped=0, missed=0)


@dataclass(kw_only=True)
class ScanDecisions:
    """The decisions about one batch of tasks.

    `moves` holds the tasks to advance and to which tick, by the counts that each advanced task adds.
    """

    fires: list[tuple[Execution, Fire]] = field(default_factory=list)
    moves: defaultdict[Unrun, list[Move]] = field(default_factory=lambda: defaultdict(list))

    def add(self, other: "ScanDecisions") -> None:
        self.fires += other.fires
        for unrun, moves in other.moves.items():
            self.moves[unrun] += moves

    def move(self, task: Task, decision: Fire | Skip, *, blocked: bool) -> None:
        self.moves[_unrun(decision, blocked=blocked)].append((task, decision.next_run_at))


def _unrun(decision: Fire | Skip, *, blocked: bool) -> Unrun:
    """Return the ticks that get no run.

    The missed ticks before one that fires are counted with its execution.
    """
    if isinstance(decision, Fire):
        return Unrun(skipped=0, missed=decision.missed, blocked=1) if blocked else NONE
    if decision.reason == "previous_active":
        return Unrun(skipped=1, missed=decision.missed - 1)
    return Unrun(skipped=0, missed=decision.missed)


def count_fires(
    metrics: Metrics,
    fires: Iterable[tuple[Execution, Fire]],
    *,
    duplicates: Collection[int],
    since_read: timedelta,
) -> None:
    """Count the executions that this node has inserted. Call it after the insert.

    `duplicates` are the positions of those that existed before. `since_read` is how long ago the tasks were
    read, at the time in `created_at`.
    """
    others = frozenset(duplicates)
    ours = [fire for position, fire in enumerate(fires) if position not in others]
    metrics.add("scheduler_fired", len(ours))
    metrics.add("scheduler_missed", sum(fire.missed for _, fire in ours))
    for execution, fire in ours:
        lag = execution.created_at - fire.scheduled_for + since_read
        metrics.observe("scheduler_lag_seconds", max(0.0, lag.total_seconds()))


def count_unrun(metrics: Metrics, unrun: Unrun, moved: int) -> None:
    """Count the ticks without a run of the `moved` tasks that this node has advanced."""
    metrics.add("scheduler_skipped", unrun.skipped * moved)
    metrics.add("scheduler_blocked", unrun.blocked * moved)
    metrics.add("scheduler_missed", unrun.missed * moved)
