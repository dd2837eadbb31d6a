"""Polls that a user requests: they wait in a queue of bounded length, and go before those that are due."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Overloaded, Unavailable
from netautod.core.identity.caller import Caller
from netautod.core.work.pauses import Pauses
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.polling.models import MANUAL, QUEUED, Poll
from netautod.network.discovery.polling.store import PollStore

OFF = "The poll service is not running"
PAUSED = "The organization is paused: nothing is polled until it is resumed"
FULL = "The queue of polls is full"
RETRY_AFTER = 30  # seconds; the queue is worked off all the time


@dataclass(kw_only=True, eq=False)
class PollRequests:
    """The requested polls. `kick` wakes the poller of this node, None where none runs; `most` polls
    may wait.
    """

    polls: PollStore
    devices: DeviceService
    pauses: Pauses
    audit: AuditLog
    clock: Clock
    most: int
    kick: Callable[[], None] | None

    async def ask(self, caller: Caller, device_id: str, *, detect: bool) -> Poll:
        """Return the poll that waits then, which may have done so already. Raises NotFound and Unavailable.

        Two nodes that count at the same moment may each queue one more than `most`.
        """
        await self.devices.require(caller.org_id, device_id)
        if self.kick is None:
            raise Unavailable(OFF)
        if caller.org_id in self.pauses.paused():
            raise Unavailable(PAUSED)
        if await self.polls.waiting() >= self.most:
            raise Overloaded(FULL, retry_after=RETRY_AFTER)
        poll = await self.polls.queue(
            Poll(
                id=str(uuid4()),
                org_id=caller.org_id,
                device_id=device_id,
                state=QUEUED,
                triggered_by=MANUAL,
                queued_at=self.clock.now(),
                detect=detect,
                requested_by=caller.username,
            )
        )
        details = {"poll_id": poll.id, "detect": detect}
        await self.audit.record(caller, "device.poll", "device", device_id, details)
        self.kick()
        return poll
