"""The uses of credentials by polls that are audited already: each once a day, not at every poll.

Ten thousand devices that are polled every quarter of an hour would leave a million events a day.
"""

from datetime import datetime, timedelta

AUDITED_FOR = timedelta(days=1)


class AuditedUses:
    """The audited uses of a node; forgotten with the process."""

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._audited: dict[str, set[str]] = {}

    def of(self, device_id: str, *, at: datetime) -> set[str]:
        """Return the ids of the credentials whose use on the device is audited; the caller adds those that it
        audits.
        """
        if self._since is None or not timedelta(0) <= at - self._since < AUDITED_FOR:
            self._since, self._audited = at, {}
        return self._audited.setdefault(device_id, set())
