"""The protocols that the poller needs: a visitor of devices, and a store of what was found."""

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
    """A reader of the tables of a device (visits/service.py)."""

    async def visit(
        self,
        work: Work,
        device: Device,
        *,
        seconds: float,
        audited: set[str] | None = None,
        **details: Any,
    ) -> Visited:
        """Visit a device for `seconds` at most, and a moment; raises what the guard of `work` raises, and no
        more.
        """
        ...


class Findings(Protocol):
    """A store of what was found, which reports changes (poll_results.py)."""

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> Outcome:
        """Replace the tables that were read, all at once, and the status in any case.

        Returns the outcome with what is known after that: the rows that are stored. Raises LeaseLostError if
        another poll has written meanwhile.
        """
        ...

    async def forget(self, org_id: OrgId, device_id: str) -> None: ...


class Changes(Protocol):
    """A finder of changes for observers (changes/)."""

    def of(
        self, device: Device, before: Before, visited: Visited, *, failures: int, at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        """Return the events as documents, which are written together with the tables."""
        ...

    async def notify(self, org_id: OrgId, device_id: str, events: Sequence[Mapping[str, Any]]) -> None:
        """Notify the observers once the events are written; what is not delivered then is delivered later."""
        ...
