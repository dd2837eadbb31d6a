"""The merge of a device of an inventory into a device here: what changes, and what is left alone.

The inventory decides about what it knows. Left alone are all fields that it does not know (credentials,
polling, port ...), tags and metadata that were added here, the site of a device that was put into a managed
site, and texts that the inventory has never had. `generic` means that the type is unknown: it never replaces
another one.
"""

import json
from dataclasses import replace
from typing import Any

from netautod.network.devices.bindings.models import RELEASE, Binding, DeviceWrite, KnownDevice
from netautod.network.devices.models import ALWAYS_GIVEN, OPTIONAL
from netautod.network.inventory.sync.desired import DesiredDevice

UNKNOWN_TYPE = "generic"
ADOPT, CREATE, REVIVE, UPDATE = "adopt", "create", "revive", "update"


def new_values(desired: DesiredDevice) -> dict[str, Any]:
    """Return the values that a new device takes over from `desired`."""
    return {
        "name": desired.name,
        "host": desired.host,
        "device_type": desired.device_type,
        **desired.texts,
        "tags": desired.tags,
        "metadata": desired.metadata_text or dict(desired.metadata),
        "inventory_id": desired.inventory_id,
        "source": "inventory",
    }


def new_binding(desired: DesiredDevice, key: str) -> Binding:
    return Binding(
        key=key,
        external_id=desired.external_id,
        brought=True,
        gave=_given(desired),
        tags=desired.tags,
        metadata_keys=tuple(sorted(desired.metadata)),
    )


def merge(known: KnownDevice, desired: DesiredDevice, key: str, action: str) -> DeviceWrite:
    """Return the write that makes `known` what `desired` says; one without values and bindings is none at
    all.
    """
    old = known.binding(key)
    values = _texts(known, desired, old)
    values.update(_tags(known, desired, old))
    values.update(_metadata(known, desired, old))
    values.update(_number(known, desired, key))
    if known.values["source"] != "inventory":
        values["source"] = "inventory"
    binding = _binding(known, desired, key, old)
    bindings = None if binding == old else _replaced(known.bindings, key, binding)
    digest = _digest(known.bindings if bindings is None else bindings, desired, action)
    return DeviceWrite(action=action, before=known, values=values, bindings=bindings, digest=digest)


def release(known: KnownDevice, key: str) -> DeviceWrite:
    """Return the write by which the device stays for other sources alone."""
    bindings = tuple(
        replace(binding, released=True) if binding.key == key else binding for binding in known.bindings
    )
    return DeviceWrite(action=RELEASE, before=known, values={}, bindings=bindings)


def _digest(bindings: tuple[Binding, ...], desired: DesiredDevice, action: str) -> str | None:
    """Return the digest, or None where more than the device and its description decides what is to be done.

    That is another inventory's device, or links that may be gone when a deleted device comes back.
    """
    return None if len(bindings) > 1 or action == REVIVE else desired.digest


def _texts(known: KnownDevice, desired: DesiredDevice, old: Binding | None) -> dict[str, Any]:
    values: dict[str, Any] = {
        field: getattr(desired, field)
        for field in ALWAYS_GIVEN
        if known.values[field] != getattr(desired, field)
    }
    if desired.device_type == UNKNOWN_TYPE:
        values.pop("device_type", None)
    gave = () if old is None else old.gave
    # A managed site says more than the inventory's free text.
    following = OPTIONAL if known.site_id is not None else (*OPTIONAL, "site")
    for field in following:
        text = desired.texts.get(field)
        if text != known.values[field] and (text is not None or field in gave):
            values[field] = text
    return values


def _number(known: KnownDevice, desired: DesiredDevice, key: str) -> dict[str, Any]:
    """Return the inventory's number. Of several inventories the first one gives it, so that it does not
    change at every sync.
    """
    here = known.values["inventory_id"]
    holding = [binding.key for binding in known.bindings if not binding.released]
    first = not holding or holding[0] == key
    if desired.inventory_id in (None, here) or not (first or here is None):
        return {}
    return {"inventory_id": desired.inventory_id}


def _tags(known: KnownDevice, desired: DesiredDevice, old: Binding | None) -> dict[str, Any]:
    came = set() if old is None else set(old.tags)
    here = known.values["tags"]
    kept = [tag for tag in here if tag in desired.tags or tag not in came]
    tags = (*kept, *(tag for tag in desired.tags if tag not in kept))
    return {} if tags == tuple(here) else {"tags": tags}


def _metadata(known: KnownDevice, desired: DesiredDevice, old: Binding | None) -> dict[str, Any]:
    came = set() if old is None else set(old.metadata_keys)
    if not came and not desired.metadata:
        return {}
    here = json.loads(known.values["metadata"])
    kept = {name: value for name, value in here.items() if name in desired.metadata or name not in came}
    metadata = {**kept, **desired.metadata}
    return {} if metadata == here else {"metadata": metadata}


def _binding(known: KnownDevice, desired: DesiredDevice, key: str, old: Binding | None) -> Binding:
    came = () if old is None else old.tags
    here = known.values["tags"]
    return Binding(
        key=key,
        external_id=desired.external_id,
        brought=old is not None and old.brought,
        gave=_given(desired),
        # A tag that was here before the inventory had it was added here, and stays.
        tags=tuple(tag for tag in desired.tags if tag in came or tag not in here),
        metadata_keys=tuple(sorted(desired.metadata)),
    )


def _replaced(bindings: tuple[Binding, ...], key: str, binding: Binding) -> tuple[Binding, ...]:
    if all(other.key != key for other in bindings):
        return (*bindings, binding)
    return tuple(binding if other.key == key else other for other in bindings)


def _given(desired: DesiredDevice) -> tuple[str, ...]:
    return tuple(sorted(name for name, text in desired.texts.items() if text is not None))
