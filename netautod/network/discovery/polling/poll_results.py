"""Keeps what a poll has found: its tables and status, what has changed, and what fills the device's fields.

The events of what has changed are written by the same update as the tables, and delivered after it: a crash
in between loses none and repeats none of the comparisons.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.polling.field_fill import filling
from netautod.network.discovery.polling.models import FAILED, PARTIAL, Poll
from netautod.network.discovery.polling.outcome import LONGEST_ERROR, Outcome
from netautod.network.discovery.polling.ports import Changes
from netautod.network.discovery.tables.models import Before, PollNote, Superseded
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.network.discovery.visits.service import Visited

DROPPED = "_dropped"  # behind the name of a table: its rows that could not be stored


@dataclass(kw_only=True, eq=False)
class KeptFindings:
    """The `Findings` of the service. `knows`: whether a device type is one of a platform."""

    tables: DiscoveredStore
    reads: DiscoveredReads
    devices: DeviceService
    knows: Callable[[str], bool]
    changes: Changes | None = None

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> Outcome:
        before = await self.reads.before(work.org_id, device.id)
        failures = failures_of(visited, before)
        events = (
            () if self.changes is None else self.changes.of(device, before, visited, failures=failures, at=at)
        )
        note = PollNote(
            state=outcome.state,
            error=outcome.error,
            reachable=visited.reachable,
            latency_ms=visited.latency_ms,
            at=at,
            failures=failures,
            last_success_at=None if outcome.state == FAILED else at,
        )
        work.guard()
        try:
            if visited.collected.given:
                found = visited.collected
                sources = {str(table): transport for table, transport in visited.sources.items()}
                written = self.tables.replace(
                    work.org_id, device.id, found, sources=sources, note=note, events=events
                )
                outcome = _with_counts(outcome, await written)
            else:
                await self.tables.note(work.org_id, device.id, note, events=events)
        except Superseded as exc:
            raise LeaseLostError("another poll has written the device's tables") from exc
        if self.changes is not None and events:
            await self.changes.notify(work.org_id, device.id, events)
        values = filling(device, visited.collected.status, detect=poll.detect, knows=self.knows)
        await self.devices.fill(work.caller, device, values, poll_id=poll.id)
        return outcome

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        await self.tables.forget(org_id, device_id)


def failures_of(visited: Visited, before: Before) -> int:
    """Return the polls in a row without an answer from the device, this one included; without a try: as
    before.
    """
    if visited.reachable is None:
        return before.failures
    return 0 if visited.reachable else before.failures + 1


def _with_counts(outcome: Outcome, counts: Mapping[str, int]) -> Outcome:
    """Return the outcome with the rows that are stored. Dropped rows are a problem of their table."""
    rows = {name: count for name, count in counts.items() if name != "status" and not name.endswith(DROPPED)}
    dropped = [
        f"{name.removesuffix(DROPPED)}: {count} rows made no sense"
        for name, count in counts.items()
        if name.endswith(DROPPED)
    ]
    if not dropped:
        return replace(outcome, counts=rows)
    error = "; ".join(dropped if outcome.error is None else [outcome.error, *dropped])
    return replace(outcome, counts=rows, state=PARTIAL, error=error[:LONGEST_ERROR])
