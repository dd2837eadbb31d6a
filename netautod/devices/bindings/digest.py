"""The mark by which a synchronisation knows that a device is still as it left it, and need not be read.

A synchronisation that has made a device what its inventory says stores a digest of that description with the
device. An edit of a field that synchronisations look at replaces it by a mark that equals no digest. The mark
is another one each time, so that a synchronisation that has read the device before notices the edit too.
"""

from collections.abc import Collection
from typing import Any
from uuid import uuid4

from netautod.devices.bindings.models import TAKEN_OVER

DIGEST = "settled"  # the name of the field in documents
# A managed site keeps the inventory from naming another one.
LOOKED_AT = frozenset({*TAKEN_OVER, "site_id"})


def edited(fields: Collection[str]) -> dict[str, Any]:
    """What an edit of these fields writes besides them."""
    return {} if LOOKED_AT.isdisjoint(fields) else {DIGEST: f"edited {uuid4()}"}
