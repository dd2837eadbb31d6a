"""The order of plugins: the first to register a name keeps it, so the order decides which has it."""

from collections.abc import Iterable
from importlib.metadata import EntryPoint

from netautod.plugin_host.loading.distributions import name_of

DISTRIBUTION = "netautod"
# Its executors only say that a task type is not implemented: they are there until a plugin brings one.
YIELDING = "netautod_unimplemented"


def in_order(entries: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Sort what ships with the service first, but for what yields, which comes last; each group by name.

    Of two outsiders of one name the distribution decides: the order is the same at every start.
    """
    return sorted(entries, key=lambda entry: (_group(entry), entry.name, _distribution(entry), entry.value))


def is_built_in(entry: EntryPoint) -> bool:
    """Return whether it ships in the distribution of the service."""
    return _distribution(entry) == DISTRIBUTION


def yields(entry: EntryPoint) -> bool:
    """Return whether it gives way to any other plugin that registers the same."""
    return is_built_in(entry) and entry.module == YIELDING


def _group(entry: EntryPoint) -> int:
    if not is_built_in(entry):
        return 1
    return 2 if yields(entry) else 0


def _distribution(entry: EntryPoint) -> str:
    return "" if entry.dist is None else name_of(entry.dist)
