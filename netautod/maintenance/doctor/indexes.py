"""Faults in the indexes of a collection: missing, otherwise defined, or not declared."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from netautod.assembly.data.dropped_indexes import DROPPED
from netautod.assembly.data.stores import INDEXES
from netautod.maintenance.doctor.findings import Finding

OF_IDS = "_id_"  # the server's own of each collection
MISSING = "start the service once: it makes what is missing"
CHANGED = "start the service once: it makes it anew, as this version declares it"
LEFT = "the service drops it, minutes after the last node of an earlier version has stopped"
STRANGE = "leave it if it is your own; otherwise drop it, for every write pays for it"


def of_indexes(collection: str, found: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Yield findings; `found` are the existing indexes, as Collection.indexes returns them."""
    wanted = {index.name: index for index in INDEXES if index.collection == collection}
    changed = [name for name in wanted.keys() & found if not wanted[name].is_as(found[name])]
    others = found.keys() - wanted - {OF_IDS}
    left = {name for name in others if (collection, name) in DROPPED}
    yield from _finding(f"{collection} lacks", wanted.keys() - found, MISSING)
    yield from _finding(f"{collection} has with another definition:", changed, CHANGED)
    yield from _finding(f"{collection} still has of an earlier version:", left, LEFT)
    yield from _finding(f"{collection} has, and this version does not declare:", others - left, STRANGE)


def _finding(text: str, names: Collection[str], todo: str) -> Iterator[Finding]:
    if names:
        yield Finding(check="indexes", text=f"{text} {', '.join(sorted(names))}", todo=todo)
