"""Executions as nodes claim them: candidates, claimed runs, and runs of dead nodes."""

from dataclasses import dataclass
from datetime import datetime

from netautod.automation.executions.models import Execution
from netautod.core.identity.caller import OrgId
from netautod.store.leases.lease import Lease


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A pending execution that a node may try to claim, unless its `epoch` has changed since."""

    id: str
    org_id: OrgId
    task_type: str
    epoch: int


@dataclass(frozen=True, kw_only=True)
class ClaimedRun:
    """A running execution whose lease this node holds."""

    held: Lease
    execution: Execution
    idempotent: bool


@dataclass(frozen=True, kw_only=True)
class DeadRun:
    """A run whose lease has run out, as it was when it was found."""

    execution: Execution
    idempotent: bool
    node_id: str
    epoch: int
    lease_until: datetime
