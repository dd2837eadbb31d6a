"""Which devices are still as a synchronisation has left them, so that an unchanged one need not be read.

A synchronisation that has made a device what its inventory says leaves a digest of that in `settled`. Whoever
changes one of the fields that a synchronisation looks at leaves a mark there that no digest is equal to. The
mark is another one each time, so that who has read the device before notices the edit too.
"""

from collections.abc import Collection
from uuid import uuid4

from netautod.devices.bindings.models import TAKEN_OVER
from netautod.store.client import Document

SETTLED = "settled"
# A managed site keeps the inventory from naming another one.
LOOKED_AT = frozenset({*TAKEN_OVER, "site_id"})


def edited(fields: Collection[str]) -> Document:
    """What an edit of these fields writes besides them."""
    return {} if LOOKED_AT.isdisjoint(fields) else {SETTLED: f"edited {uuid4()}"}
