"""The document of a live device, and what is read from one.

`metadata` is kept as JSON text: as BSON, keys such as `$ref` would come back as something else.

A synchronisation that has made a device what its inventory says stores a digest of that description with the
device. An edit of a field that synchronisations look at replaces it by a mark that equals no digest. The mark
is another one each time, so that a synchronisation that has read the device before notices the edit too.
"""

import json
from collections.abc import Collection
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import uuid4

from netautod.devices.models import TAKEN_OVER, Device, DeviceItem
from netautod.devices.queries import SEARCH, search_text
from netautod.store.client import Document

ITEM_FIELDS = {field.name: 1 for field in fields(DeviceItem) if field.name != "id"}
SPECIAL = frozenset({"id", "tags", "connect_commands", "metadata", "other_key_seen", "port_keys"})
ITEM_PLAIN = tuple(field.name for field in fields(DeviceItem) if field.name not in SPECIAL)
PLAIN = tuple(field.name for field in fields(Device) if field.name not in SPECIAL)

BACKUP = "backup"
DIGEST = "settled"  # the name of the field in documents
PROMPT = "host_key_prompt"  # what devices/host_keys keeps there
PORT_KEYS = "port_keys"  # pinned keys by the port, as text
# A managed site keeps the inventory from naming another one.
LOOKED_AT = frozenset({*TAKEN_OVER, "site_id"})

# Fields that documents of the first release lack: the default of the model applies.
ADDED = frozenset({"ssh_profile", "vouched"})


def document_of(device: Device) -> Document:
    """The whole document of a live device, without `org_id`."""
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
    """How the backup of a device stands of which nothing was captured (devices/backups)."""
    fields = {"at": None, "state": "never", "error": None, "kind": None, "success_at": None}
    return {**fields, "fresh_at": created_at, "stale_at": None}


def item_of(document: Document) -> DeviceItem:
    return DeviceItem(
        id=document["_id"],
        tags=tuple(document["tags"]),
        connect_commands=tuple(document["connect_commands"]),
        **{name: document[name] for name in ITEM_PLAIN if name in document or name not in ADDED},
    )


def device_of(document: Document) -> Device:
    return Device(
        id=document["_id"],
        tags=tuple(document["tags"]),
        connect_commands=tuple(document["connect_commands"]),
        metadata=json.loads(document["metadata"]),
        other_key_seen=document.get(PROMPT) is not None,
        port_keys={int(port): key for port, key in document.get(PORT_KEYS, {}).items()},
        **{name: document[name] for name in PLAIN if name in document or name not in ADDED},
    )


def unchanged(document: Document) -> dict[str, Any]:
    """The condition that a device is in all that is shown of it as this document has it, whoever writes it.

    What the document lacks has to be lacking still.
    """
    return {name: {"$eq": document.get(name)} for name in (*PLAIN, "tags", "connect_commands", "metadata")}


def edited(fields: Collection[str]) -> dict[str, Any]:
    """What an edit of these fields writes besides them."""
    return {} if LOOKED_AT.isdisjoint(fields) else {DIGEST: f"edited {uuid4()}"}
