"""One poll from its beginning to its end in the history, whatever happens on the way.

Nothing that a device or a collector does leaves a poll running. Where the lease is lost, or the node stops,
it is left as it is: the node that takes it over begins it again.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime

from netautod.core.clock import Clock
from netautod.core.errors import NotFound, Unavailable
from netautod.core.identity.caller import SYSTEM_ID, Caller, OrgId
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.network.devices.models import Device
from netautod.network.devices.polls.store import DuePolls
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.polling.credential_audit import AuditedUses
from netautod.network.discovery.polling.models import MANUAL, Poll
from netautod.network.discovery.polling.outcome import Outcome, failed, outcome_of
from netautod.network.discovery.polling.ports import Findings, Visitor
from netautod.network.discovery.polling.schedule import interval_of, next_due
from netautod.network.discovery.polling.store import PollStore
from netautod.network.discovery.visits.service import Visited
from netautod.store.leases.lease import Lease

logger = logging.getLogger(__name__)
PERMISSIONS = frozenset({"devices.access"})
# Beyond the seconds of a device: a collector that was cancelled may clean up, and its lateness is counted.
GRACE_SECONDS = 20.0
LATE = "not ended within the time of one poll"
MISTAKE = "an error of the service: its log has more"
DELETED = "the device was deleted meanwhile"


def poller_of(org_id: OrgId) -> Caller:
    """Return the caller in whose name devices are polled: it may read them, and no more."""
    return Caller(user_id=SYSTEM_ID, org_id=org_id, username="poller", permissions=PERMISSIONS)


@dataclass(kw_only=True, eq=False)
class Visiting:
    """The polls of a node. `seconds` for one device."""

    polls: PollStore
    due: DuePolls
    devices: DeviceService
    visitor: Visitor
    findings: Findings
    clock: Clock
    metrics: Metrics
    seconds: float
    grace_seconds: float = GRACE_SECONDS
    audited_uses: AuditedUses = field(default_factory=AuditedUses)

    def __post_init__(self) -> None:
        self._left: set[asyncio.Task[Visited]] = set()

    async def run(self, poll: Poll, held: Lease) -> None:
        """Run a poll that was started under the lease. Raises LeaseLostError and Unavailable."""
        work = Work(caller=poller_of(poll.org_id), guard=held.guard, bulk=True)
        try:
            device = await self.devices.get(poll.org_id, poll.device_id, work)
        except NotFound:
            await self.forget(poll)
            return
        visited, outcome = await self._visit(work, device, poll)
        held.guard()
        at = self.clock.now()
        outcome = await self._keep(work, device, poll, visited, outcome, at)
        await self._end(poll, outcome, visited, at)

    async def _keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, at: datetime
    ) -> Outcome:
        """Store the results and return the outcome; a mistake of ours must not leave the poll running."""
        try:
            return await self.findings.keep(work, device, poll, visited, outcome, at=at)
        except (Unavailable, LeaseLostError):
            raise
        except Exception:
            logger.exception("the tables of %s could not be stored", device.id)
            return failed(MISTAKE)

    async def _end(self, poll: Poll, outcome: Outcome, visited: Visited, at: datetime) -> None:
        ended = await self.polls.end(poll, outcome, at=at)
        if not ended:
            await self._forget_if_deleted(poll)
            return
        self.metrics.add("polls_failed" if outcome.state == "failed" else "polls_finished")
        await self.polls.trim(poll.org_id, poll.device_id)
        await self.reschedule(poll, answered=outcome.state != "failed", at=at)

    async def reschedule(self, poll: Poll, *, answered: bool, at: datetime) -> None:
        """Set the next poll of the device; an edit since leaves it to the next look."""
        seen = await self.due.get(poll.org_id, poll.device_id)
        if seen is None or seen.due_at is None:
            return
        failures = 0 if answered else seen.failures + 1
        next_at = next_due(seen.id, interval_of(seen.interval_minutes), after=at, failures=failures)
        await self.due.move(seen, next_at, failures=failures)

    async def give_up(self, poll: Poll, error: str) -> None:
        """End a poll that is not started again."""
        at = self.clock.now()
        if await self.polls.end(poll, failed(error), at=at):
            self.metrics.add("polls_failed")
            await self.reschedule(poll, answered=False, at=at)

    async def forget(self, poll: Poll) -> None:
        """Delete the tables and the history of a device that is gone."""
        await self.polls.forget_device(poll.org_id, poll.device_id)
        await self.findings.forget(poll.org_id, poll.device_id)

    async def _forget_if_deleted(self, poll: Poll) -> None:
        """Delete what was kept after the deletion had cleaned up: it would stay for ever."""
        try:
            await self.devices.require(poll.org_id, poll.device_id)
        except NotFound:
            await self.forget(poll)

    async def _visit(self, work: Work, device: Device, poll: Poll) -> tuple[Visited, Outcome]:
        visit = asyncio.create_task(self._visit_device(work, device, poll), name=f"visit of {device.id}")
        try:
            done, _ = await asyncio.wait({visit}, timeout=self.seconds + self.grace_seconds)
        except asyncio.CancelledError:
            await self._stop(visit)
            raise
        if not done:
            await self._stop(visit)
            return Visited(failures=(LATE,)), failed(LATE)
        try:
            visited = visit.result()
        except (LeaseLostError, Unavailable):
            raise
        except Exception:  # of the service itself: visits tell what collectors raise
            logger.exception("the visit of %s failed", device.id)
            return Visited(), failed(MISTAKE)
        return visited, outcome_of(visited)

    async def _visit_device(self, work: Work, device: Device, poll: Poll) -> Visited:
        by_hand = poll.triggered_by == MANUAL
        audited = set() if by_hand else self.audited_uses.of(device.id, at=self.clock.now())
        details = {"poll_id": poll.id} | ({"requested_by": poll.requested_by} if by_hand else {})
        return await self.visitor.visit(work, device, seconds=self.seconds, audited=audited, **details)

    async def _stop(self, visit: "asyncio.Task[Visited]") -> None:
        visit.cancel()
        await asyncio.wait({visit}, timeout=self.grace_seconds)
        if not visit.done():
            logger.warning("a %s ignores its cancellation and is left behind", visit.get_name())
            self.metrics.add("polls_abandoned")
            self._left.add(visit)
            visit.add_done_callback(self._left.discard)
        elif not visit.cancelled():
            visit.exception()  # else asyncio complains that it was never retrieved
