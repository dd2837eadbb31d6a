"""The names of the events that a webhook may choose."""

from collections.abc import Iterable, Mapping

EXECUTION_FINISHED = "execution_finished"
CONFIG_CHANGED = "config_changed"
BACKUP_STALE = "backup_stale"
CREDENTIAL_SUSPENDED = "credential_suspended"
TASK_BLOCKED = "task_blocked"
# The kinds of changes that polls find.
CHANGES = ("neighbor_lost", "interface_down", "device_unreachable", "device_reachable")
DESCRIPTIONS: Mapping[str, str] = {
    EXECUTION_FINISHED: "An execution has ended; retries are not reported, only the end.",
    CONFIG_CHANGED: "A new version of a device's configuration was stored.",
    BACKUP_STALE: "A device has had no good backup for `backups.stale_hours`; once until the next good one.",
    CREDENTIAL_SUSPENDED: "A device refused a credential; background work leaves it alone there for a while.",
    TASK_BLOCKED: "The owner of a task was disabled or deleted, so the task does not run; once until it can.",
    "neighbor_lost": "A poll no longer finds a neighbor that was heard on an interface.",
    "interface_down": "An interface went down although it is not turned off.",
    "device_unreachable": "`polling.unreachable_after` polls in a row got no answer from a device.",
    "device_reachable": "A device that was unreachable answers again.",
}
OWN = tuple(DESCRIPTIONS)
TEST = "test"
"""The event of a webhook's test; a webhook cannot subscribe to it."""


class EventNames:
    """The names of the product's events, and those of plugins: `PLUGIN.NAME`, which assembly registers at the
    start.
    """

    def __init__(self, of_plugins: Iterable[str] = ()) -> None:
        self._known = dict.fromkeys(OWN)
        for name in of_plugins:
            self.register(name)

    def register(self, name: str) -> None:
        """Register the event of a plugin.

        Raises ValueError for a name that is not `PLUGIN.NAME`: it could hide one of the product.
        """
        plugin, dot, rest = name.partition(".")
        if not plugin or not dot or not rest:
            raise ValueError(f"{name!r} is not PLUGIN.NAME")
        self._known[name] = None

    def known(self) -> tuple[str, ...]:
        return tuple(self._known)

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Return the names that are not registered, each once."""
        return [name for name in dict.fromkeys(names) if name not in self._known]
