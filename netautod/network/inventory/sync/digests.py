"""Digests of descriptions, by which a walk finds the devices that are here as the inventory describes them.

Such a device costs a digest and a look-up: nothing else of it is checked, read or compared.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from netautod.network.devices.bindings.models import BoundDevice

# Raise it when the rules of desired.py or merge.py change: every device is then compared once more.
RULES = 1
LENGTH = 16


class BoundDevices:
    """The bound devices. `bound`: the live devices that are bound under the key, by external id."""

    def __init__(self, key: str, bound: Mapping[str, BoundDevice]) -> None:
        self.by_id = bound
        self._hash = blake2b(f"{RULES} {key} ".encode(), digest_size=LENGTH)

    def digest(self, device: Any) -> str:
        """Return the digest of a plugin's RemoteDevice, whatever its fields hold; empty for what nests
        without end.
        """
        description = (
            device.external_id,
            device.inventory_id,
            device.name,
            device.host,
            device.device_type,
            device.description,
            device.manufacturer,
            device.model,
            device.platform,
            device.site,
            device.serial_number,
            device.asset_tag,
            device.tags,
            device.metadata,
        )
        found = self._hash.copy()
        try:
            found.update(repr(description).encode(errors="replace"))
        except RecursionError:
            return ""
        return found.hexdigest()

    def is_unchanged(self, external_id: str, digest: str) -> bool:
        """Return whether the device is here, and both it and its description are as the last synchronisation
        left them.
        """
        known = self.by_id.get(external_id)
        return known is not None and known.digest == digest
