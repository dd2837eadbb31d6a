"""The queries of a device filter, and the indexes that answer every such query."""

import re
from collections.abc import Mapping
from typing import Any

from netautod.network.devices.models import SSH, USABLE, WAITS, DeviceFilter
from netautod.store.client import Sort
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

# What a filter looks at. A write of one of these moves the revision of DeviceCounts.
FILTERED = frozenset({"name", "host", "device_type", "site", "source", "tags", "vouched"})

# As DeviceItem.credential_state says it.
STATES: Mapping[str, dict[str, Any]] = {
    WAITS: {"vouched": False, "$or": [{"host_key_fingerprint": None}, {"protocol": {"$ne": SSH}}]},
    USABLE: {"$or": [{"vouched": True}, {"host_key_fingerprint": {"$gt": ""}, "protocol": SSH}]},
}

# All of them hold live devices only: a tombstone is in no list, and its name is free.
LIVE = {"live": True}

# Name and host in one text, for `q`: one key of one index is looked at per device and no document. Only NUL
# cannot stand in either of them; it sorts before everything, so that this is also the order by name.
SEARCH = "search"
BETWEEN = "\x00"


def _index(*keys: str, unique: bool = False) -> Index:
    ascending = tuple((key, 1) for key in ("org_id", *keys))
    return Index(collection=COLLECTION, keys=ascending, unique=unique, partial=LIVE)


INDEXES = (
    # `live` among the keys, although it is true in all of them: so neither a count nor the skipping of
    # earlier pages has to look into the documents. A filter by one of these fields keeps the order by name;
    # two filters narrow by one and check the other.
    _index("live", "name", unique=True),
    _index("live", "device_type", "name"),
    _index("live", "site", "name"),
    _index("live", "source", "name"),
    _index("live", "tags", "name"),
    _index("live", SEARCH),
    _index("_id"),
    # The few that wait to be vouched for.
    Index(collection=COLLECTION, keys=(("org_id", 1), ("name", 1)), partial={**LIVE, "vouched": False}),
    *(
        Index(
            collection=COLLECTION,
            keys=(("org_id", 1), (field, 1), ("name", 1)),
            partial={**LIVE, field: {"$gt": ""}},
        )
        for field in LINK_FIELDS
    ),
    # All devices in the order of their creation.
    Index(collection=COLLECTION, keys=(("created_at", 1), ("_id", 1))),
    Index(collection=COLLECTION, keys=(("cleanup", 1),), partial={"cleanup": True}),
    Index(collection=COLLECTION, keys=(("deleted_at", 1),), partial={"deleted_at": {"$type": "date"}}),
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
    """Return the filter's document. All values that callers send are texts: none of them can be an
    operator."""
    return live(**_conditions(narrowed))


def _conditions(narrowed: DeviceFilter) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "device_type": _type(narrowed),
        "site": narrowed.site,
        "source": narrowed.source,
        "tags": narrowed.tag,
    }
    if narrowed.q is not None:
        wanted[SEARCH] = {"$regex": re.escape(narrowed.q), "$options": "i"}
    known = {field: value for field, value in wanted.items() if value is not None}
    return {**known, **STATES.get(narrowed.credential_state or "", {})}


def _type(narrowed: DeviceFilter) -> Any:
    many = len(narrowed.synonyms) > 1
    return {"$in": list(narrowed.synonyms)} if many else narrowed.device_type


def order(narrowed: DeviceFilter) -> Sort:
    """Return the order by name. A search without other conditions names the field whose index it uses."""
    return [(SEARCH if [*_conditions(narrowed)] == [SEARCH] else "name", 1)]


def best_index(narrowed: DeviceFilter) -> str | None:
    """Return the index's name where there is no choice; None leaves it to the server, which tries some of
    them.

    Without the name the server forgets its plan at every late page and every count: it expects the effort of
    a first page, and starts to try all indexes again when it has done ten times as much.
    """
    keys = [*_conditions(narrowed)]
    if len(keys) > 1 or narrowed.credential_state is not None:
        return None
    return _index("live", *keys, *([] if keys == [SEARCH] else ["name"])).name


def search_text(name: str, host: str) -> str:
    """Return the `search` of a device document; every write of name or host writes this too."""
    return f"{name}{BETWEEN}{host}"


# The same as an expression, for updates that know only one of the two.
SEARCH_TEXT = {"$concat": ["$name", BETWEEN, "$host"]}
