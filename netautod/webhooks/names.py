"""The names of the events that a webhook may choose."""

from collections.abc import Iterable

EXECUTION_FINISHED = "execution_finished"
CONFIG_CHANGED = "config_changed"
BACKUP_STALE = "backup_stale"
CREDENTIAL_SUSPENDED = "credential_suspended"
# Of polls: the kinds of changes.
CHANGES = ("neighbor_lost", "interface_down", "device_unreachable", "device_reachable")
OWN = (EXECUTION_FINISHED, CONFIG_CHANGED, BACKUP_STALE, CREDENTIAL_SUSPENDED, *CHANGES)
TEST = "test"
"""What the test of a webhook is called; nobody can choose it."""


class EventNames:
    """Those of the product, and those of plugins: `PLUGIN.NAME`, which app/ registers at the start."""

    def __init__(self, of_plugins: Iterable[str] = ()) -> None:
        self._known = dict.fromkeys(OWN)
        for name in of_plugins:
            self.register(name)

    def register(self, name: str) -> None:
        """Raises ValueError for a name that is not `PLUGIN.NAME`: it could hide one of the product."""
        plugin, dot, rest = name.partition(".")
        if not plugin or not dot or not rest:
            raise ValueError(f"{name!r} is not PLUGIN.NAME")
        self._known[name] = None

    def known(self) -> tuple[str, ...]:
        return tuple(self._known)

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Those that nobody has registered, each once."""
        return [name for name in dict.fromkeys(names) if name not in self._known]
