"""The document of a live device, and what is read from one.

`metadata` is kept as JSON text: as BSON, keys such as `$ref` would come back as something else.

A synchronisation that has made a device what its inventory says stores a digest of that description with the
device. An edit of a field that synchronisations look at replaces it by a mark that equals no digest. The mark
is another one each time, so that a synchronisation that has read the device before notices the edit too.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields as fields_of
from datetime import datetime
from operator import itemgetter
from typing import Any
from uuid import uuid4

from netautod.core.schema.bulk_values import made
from netautod.network.devices.models import DEFAULT_PROFILE, TAKEN_OVER, Device, DeviceItem
from netautod.network.devices.records.queries import SEARCH, search_text
from netautod.store.client import Document

ITEM_FIELDS = {field.name: 1 for field in fields_of(DeviceItem) if field.name != "id"}
SPECIAL = frozenset({"id", "tags", "connect_commands", "metadata", "other_key_seen", "port_keys"})
ITEM_PLAIN = tuple(field.name for field in fields_of(DeviceItem) if field.name not in SPECIAL)
PLAIN = tuple(field.name for field in fields_of(Device) if field.name not in SPECIAL)
_item_values, _values = itemgetter(*ITEM_PLAIN), itemgetter(*PLAIN)

BACKUP = "backup"
DIGEST = "settled"  # the name of the field in documents
PROMPT = "host_key_prompt"  # what devices/host_keys keeps there
PORT_KEYS = "port_keys"  # pinned keys by the port, as text
# A managed site keeps the inventory from naming another one.
LOOKED_AT = frozenset({*TAKEN_OVER, "site_id"})

# Of fields that documents of the first release lack.
DEFAULTS = {"ssh_profile": DEFAULT_PROFILE, "vouched": False}


def document_of(device: Device) -> Document:
    """Return the whole document of a live device, without `org_id`."""
    return {
        "_id": device.id,
        **{name: getattr(device, name) for name in PLAIN},
        "tags": list(device.tags),
        "connect_commands": list(device.connect_commands),
        "metadata": json.dumps(dict(device.metadata)),
        SEARCH: search_text(device.name, device.host),
        BACKUP: no_backup(device.created_at),
        "live": True,
    }


def no_backup(created_at: datetime) -> Document:
    """Return the backup state of a device of which nothing was captured (configs/backups)."""
    fields = {"at": None, "state": "never", "error": None, "kind": None, "success_at": None}
    return {**fields, "fresh_at": created_at, "stale_at": None}


def item_of(document: Document) -> DeviceItem:
    return made(DeviceItem, _fields(document, ITEM_PLAIN, _item_values))


def device_of(document: Document) -> Device:
    fields = _fields(document, PLAIN, _values)
    fields["metadata"] = json.loads(document["metadata"])
    fields["other_key_seen"] = document.get(PROMPT) is not None
    fields["port_keys"] = {int(port): key for port, key in document.get(PORT_KEYS, {}).items()}
    return made(Device, fields)


def _fields(
    document: Document, names: Sequence[str], values: Callable[[Document], tuple[Any, ...]]
) -> dict[str, Any]:
    try:
        found = values(document)
    except KeyError:
        found = values({**DEFAULTS, **document})
    fields = dict(zip(names, found, strict=True))
    fields["id"] = document["_id"]
    fields["tags"] = tuple(document["tags"])
    fields["connect_commands"] = tuple(document["connect_commands"])
    return fields


def unchanged(document: Document) -> dict[str, Any]:
    """Return the condition that all shown fields of a device are still as in this document, whichever writer
    changes them.

    What the document lacks has to be lacking still.
    """
    return {name: {"$eq": document.get(name)} for name in (*PLAIN, "tags", "connect_commands", "metadata")}


def edited(fields: Collection[str]) -> dict[str, Any]:
    """Return the further values that an edit of these fields writes."""
    return {} if LOOKED_AT.isdisjoint(fields) else {DIGEST: f"edited {uuid4()}"}
