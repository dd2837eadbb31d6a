"""The place of a device in the schedule of polls."""

from dataclasses import dataclass
from datetime import datetime

from netautod.core.identity.caller import OrgId

DEFAULT_INTERVAL_MINUTES = 15


@dataclass(frozen=True, kw_only=True)
class DueDevice:
    """A device with just the fields that its schedule needs. `due_at` None: it has no time yet.

    `failures`: polls in a row without an answer, since the last one with an answer, or since the last change
    of how the device is reached.
    """

    id: str
    org_id: OrgId
    interval_minutes: int | None
    due_at: datetime | None = None
    failures: int = 0
