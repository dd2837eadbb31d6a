"""What the poller needs of others: who visits a device, and who keeps what was found there."""

from datetime import datetime
from typing import Any, Protocol

from netautod.core.identity import OrgId
from netautod.core.work import Work
from netautod.devices.models import Device
from netautod.discovery.polling.models import Poll
from netautod.discovery.polling.outcome import Outcome
from netautod.discovery.visits.service import Visited


class Visitor(Protocol):
    """Reads the tables of a device (visits/service.py)."""

    async def visit(
        self,
        work: Work,
        device: Device,
        *,
        seconds: float,
        audited: set[str] | None = None,
        **details: Any,
    ) -> Visited:
        """Takes `seconds` at most, and a moment; raises what the guard of `work` raises, and no more."""
        ...


class Findings(Protocol):
    """Keeps what was found, and tells what has changed."""

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> None:
        """Replaces the tables that were read, all at once, and the status in any case."""
        ...

    async def forget_device(self, org_id: OrgId, device_id: str) -> None: ...
