"""Notifies observers of changes, each once: they are stored with the tables, delivered, then cleared by id.

If the node dies in between, they are stored: another node delivers them later under the same ids, by which a
receiver recognizes one that it has seen.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.network.devices.models import Device
from netautod.network.discovery.changes.compare import changes_of
from netautod.network.discovery.tables.event_outbox import UNNOTIFIED
from netautod.network.discovery.tables.models import Before
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api.events import DeviceChanged

logger = logging.getLogger(__name__)
# A node that has written events tells them in a moment: what waits longer than this has been left behind.
LEFT_AFTER = timedelta(seconds=60)
LOOK_SECONDS = 60.0
AT_ONCE = 100
FIELDS = frozenset(field.name for field in fields(DeviceChanged)) - {"org_id", "device_id"}


class ChangeObservers(Protocol):
    def device_changed(self, event: DeviceChanged) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The changes of devices. `unreachable_after`: polls in a row without an answer that make a device
    unreachable.
    """

    tables: DiscoveredStore
    observers: ChangeObservers
    clock: Clock
    unreachable_after: int

    def of(
        self, device: Device, before: Before, visited: Visited, *, failures: int, at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        """Return the events as documents, which are written together with the tables."""
        found = changes_of(
            before,
            visited.collected,
            reachable=visited.reachable,
            failures=failures,
            unreachable_after=self.unreachable_after,
        )
        return [
            {"id": str(uuid4()), "device_name": device.name, "at": at, **asdict(change)} for change in found
        ]

    async def notify(self, org_id: OrgId, device_id: str, events: Sequence[Mapping[str, Any]]) -> None:
        """Notify the observers once the events are written. An event that cannot be cleared now is delivered
        once more later.
        """
        for event in events:
            self.observers.device_changed(change_event(org_id, device_id, event))
        try:
            await self.tables.unnotified.clear({device_id: [event["id"] for event in events]})
        except Unavailable as error:
            logger.warning("observers may be notified twice of the events of %s: %s", device_id, error)

    async def look(self) -> None:
        """Deliver the events that were left behind; for one node at a time."""
        while True:
            left = await self.tables.unnotified.find(before=self.clock.now() - LEFT_AFTER, limit=AT_ONCE)
            for header in left:
                device_id, events = header["_id"], header[UNNOTIFIED]
                for event in events:
                    self.observers.device_changed(change_event(header["org_id"], device_id, event))
                # Raises where it cannot be crossed out: the next look begins with it, and not this one again.
                await self.tables.unnotified.clear({device_id: [event["id"] for event in events]})
            if len(left) < AT_ONCE:
                return


def change_event(org_id: OrgId, device_id: str, stored: Mapping[str, Any]) -> DeviceChanged:
    """Return the event of a stored change. A newer version may have written more of it than this one
    knows.
    """
    known = {name: value for name, value in stored.items() if name in FIELDS}
    return DeviceChanged(org_id=org_id, device_id=device_id, **known)
