"""The document of a live device, and what is read from one.

`metadata` is kept as JSON text: as BSON, keys such as `$ref` would come back as something else.
"""

import json
from dataclasses import fields

from netautod.devices.models import Device, DeviceItem
from netautod.devices.queries import SEARCH, search_text
from netautod.store.client import Document

ITEM_FIELDS = {field.name: 1 for field in fields(DeviceItem) if field.name != "id"}
SPECIAL = frozenset({"id", "tags", "connect_commands", "metadata"})
ITEM_PLAIN = tuple(field.name for field in fields(DeviceItem) if field.name not in SPECIAL)
PLAIN = tuple(field.name for field in fields(Device) if field.name not in SPECIAL)

# Fields that documents of the first release lack: the default of the model applies.
ADDED = frozenset({"ssh_profile"})


def document_of(device: Device) -> Document:
    """The whole document of a live device, without `org_id`."""
    return {
        "_id": device.id,
        **{name: getattr(device, name) for name in PLAIN},
        "tags": list(device.tags),
        "connect_commands": list(device.connect_commands),
        "metadata": json.dumps(dict(device.metadata)),
        SEARCH: search_text(device.name, device.host),
        "live": True,
    }


def item_of(document: Document) -> DeviceItem:
    return DeviceItem(
        id=document["_id"],
        tags=tuple(document["tags"]),
        connect_commands=tuple(document["connect_commands"]),
        **{name: document[name] for name in ITEM_PLAIN},
    )


def device_of(document: Document) -> Device:
    return Device(
        id=document["_id"],
        tags=tuple(document["tags"]),
        connect_commands=tuple(document["connect_commands"]),
        metadata=json.loads(document["metadata"]),
        **{name: document[name] for name in PLAIN if name in document or name not in ADDED},
    )
