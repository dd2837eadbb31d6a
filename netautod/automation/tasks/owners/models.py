"""The reasons for which a task is blocked, and its event."""

from dataclasses import dataclass

from netautod.core.identity.caller import OrgId

OWNER_DISABLED, OWNER_DELETED = "owner disabled", "owner deleted"
REASONS = (OWNER_DISABLED, OWNER_DELETED)


@dataclass(frozen=True, kw_only=True)
class UnreportedBlock:
    """A blocked task whose block was not reported yet."""

    org_id: OrgId
    task_id: str
    task_name: str
    owner_id: str


@dataclass(frozen=True, kw_only=True)
class BlockReport:
    """The mark of a task whose block was reported; `id` None: by a version that gave reports no id."""

    org_id: OrgId
    task_id: str
    owner_id: str
    id: str | None


@dataclass(frozen=True, kw_only=True)
class TaskBlocked:
    """The data of the event `task_blocked`."""

    org_id: str
    task_id: str
    task_name: str
    owner_id: str
    reason: str
