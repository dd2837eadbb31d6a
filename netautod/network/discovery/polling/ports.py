"""What the poller needs of others: who visits a device, and who keeps what was found there."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.network.devices.models import Device
from netautod.network.discovery.polling.models import Poll
from netautod.network.discovery.polling.outcome import Outcome
from netautod.network.discovery.tables.models import Before
from netautod.network.discovery.visits.service import Visited


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
    """Keeps what was found, and tells what has changed (findings.py)."""

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> Outcome:
        """Replaces the tables that were read, all at once, and the status in any case.

        Returns the outcome with what is known after that: the rows that are there. Raises LeaseLostError if
        another poll has written meanwhile.
        """
        ...

    async def forget(self, org_id: OrgId, device_id: str) -> None: ...


class Changes(Protocol):
    """Finds what observers are told of (changes/)."""

    def of(
        self, device: Device, before: Before, visited: Visited, *, failures: int, at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        """The events as documents, which are written together with the tables."""
        ...

    async def tell(self, org_id: OrgId, device_id: str, events: Sequence[Mapping[str, Any]]) -> None:
        """Called when they are written; what is not told then is told later."""
        ...
