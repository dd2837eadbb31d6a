"""The summary of an organization, for one caller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netautod.automation.executions.models import ExecutionTally
from netautod.automation.system.models import Pause
from netautod.network.configs.backups.models import BackupCounts
from netautod.network.configs.models import RecentChange


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The summary of an organization.

    `runs` None: the caller may not see runs; then `paused` and `blocked_tasks`
    are None, too, as it is when nothing is paused.
    """

    backups: BackupCounts
    runs: ExecutionTally | None
    blocked_tasks: int | None
    paused: Pause | None
    recent_changes: Sequence[RecentChange]

    @property
    def devices(self) -> int:
        return self.backups.total

    def to_json(self) -> dict[str, Any]:
        runs = self.runs
        return {
            "devices": self.devices,
            "backups": self.backups.to_json(),
            "executions": None if runs is None else runs.to_json(),
            "approvals": None if runs is None else runs.approvals,
            "paused": None if self.paused is None else self.paused.to_json(),
            "blocked_tasks": self.blocked_tasks,
            "recent_changes": [change.to_json() for change in self.recent_changes],
        }
