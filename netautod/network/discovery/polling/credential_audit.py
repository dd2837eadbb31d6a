"""Whose credentials the audit log knows to be used by polls: each use is told once a day, not at every poll.

Ten thousand devices that are polled every quarter of an hour would leave a million events a day.
"""

from datetime import datetime, timedelta

TOLD_FOR = timedelta(days=1)


class ToldUses:
    """Of one node; forgotten with the process."""

    def __init__(self) -> None:
        self._begun: datetime | None = None
        self._told: dict[str, set[str]] = {}

    def of(self, device_id: str, *, at: datetime) -> set[str]:
        """The ids of the credentials whose use on the device has been told; whoever tells one adds it."""
        if self._begun is None or not timedelta(0) <= at - self._begun < TOLD_FOR:
            self._begun, self._told = at, {}
        return self._told.setdefault(device_id, set())
