"""Which documents a device filter means, and the indexes that answer every such query."""

import re
from typing import Any

from netautod.devices.models import DeviceFilter
from netautod.store.indexes import Index

COLLECTION = "devices"
# What other records are pointed at by; each has an index of the few devices that set it.
LINK_FIELDS = (
    "default_credential_id",
    "snmp_credential_id",
    "automation_credential_id",
    "site_id",
    "jump_device_id",
)
CREDENTIAL_FIELDS = LINK_FIELDS[:3]

# All of them hold live devices only: a tombstone is in no list, and its name is free.
LIVE = {"live": True}


def _index(*keys: str, unique: bool = False) -> Index:
    ascending = tuple((key, 1) for key in ("org_id", *keys))
    return Index(collection=COLLECTION, keys=ascending, unique=unique, partial=LIVE)


INDEXES = (
    _index("name", unique=True),
    # A filter by one of these keeps the order by name; two filters narrow by one and check the other.
    _index("device_type", "name"),
    _index("site", "name"),
    _index("source", "name"),
    _index("tags", "name"),
    _index("_id"),
    # `live` among the keys, so that a count need not look into the documents.
    _index("live", "name"),
    *(
        Index(
            collection=COLLECTION,
            keys=(("org_id", 1), (field, 1), ("name", 1)),
            partial={**LIVE, field: {"$gt": ""}},
        )
        for field in LINK_FIELDS
    ),
    Index(collection=COLLECTION, keys=(("cleanup", 1),), partial={"cleanup": True}),
    # One live device for each device of an inventory, and the deleted ones that may come back.
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("bindings.key", 1), ("bindings.external_id", 1)),
        unique=True,
        partial={**LIVE, "bindings.key": {"$gt": ""}},
    ),
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("bindings.key", 1), ("bindings.external_id", 1), ("deleted_at", -1)),
        partial={"live": False, "bindings.key": {"$gt": ""}},
    ),
)


def live(**conditions: Any) -> dict[str, Any]:
    return {**conditions, **LIVE}


def where(narrowed: DeviceFilter) -> dict[str, Any]:
    """The filter's document. All values are texts, so that none of them can be an operator."""
    wanted = live()
    if narrowed.device_type is not None:
        wanted["device_type"] = narrowed.device_type
    if narrowed.site is not None:
        wanted["site"] = narrowed.site
    if narrowed.source is not None:
        wanted["source"] = narrowed.source
    if narrowed.tag is not None:
        wanted["tags"] = narrowed.tag
    if narrowed.q is not None:
        contains = {"$regex": re.escape(narrowed.q), "$options": "i"}
        wanted["$or"] = [{"name": contains}, {"host": contains}]
    return wanted
