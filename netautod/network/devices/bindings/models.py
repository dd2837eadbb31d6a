"""Bindings of devices to devices of inventories, and what a synchronisation reads and writes of a device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SAVED_SOURCE = "source:"
RELEASE = "release"  # the action of a write by which one source of several lets go of a device
BATCH = 250  # documents of one round trip: decoding more of them would hold up the event loop


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """A binding to one device of one inventory. `key` is `source:<id>` or `origin:<scheme://host:port>`.

    `brought`: the synchronisation made the device (it did not adopt one that was here). `gave` are the
    optional texts that the inventory had when it was last read, `tags` and `metadata_keys` what came to the
    device by this binding: what is not among them was added here and is left alone. `released`: the inventory
    has the device no more, another saved source still does. The binding stays, so that the device is known
    again when it comes back there.
    """

    key: str
    external_id: str
    brought: bool
    gave: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata_keys: tuple[str, ...] = ()
    released: bool = False

    @property
    def saved(self) -> bool:
        """Return whether the source is saved: its later synchronisations update the device."""
        return self.key.startswith(SAVED_SOURCE)

    @property
    def keeps(self) -> bool:
        """Return whether the device stays here for this binding alone."""
        return self.saved and not self.released


def is_brought_by(bindings: Sequence[Binding], key: str) -> bool:
    """Return whether the device may go when the inventory under the key has it no more.

    All saved sources that have a device answer together for what one of them has brought.
    """
    brought = any(binding.saved and binding.brought for binding in bindings)
    return brought and any(binding.key == key and binding.keeps for binding in bindings)


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownDevice:
    """A device here, live or deleted. `values`: the fields of TAKEN_OVER, and what the device points at.

    `metadata` among them is the stored JSON text: thousands of small objects would keep the collector busy.
    `cleaning`: it was deleted, and the followers of the deletion are not done yet.
    `digest`: see network/devices/records/documents.py.
    """

    id: str
    live: bool
    cleaning: bool = False
    site_id: str | None
    values: Mapping[str, Any]
    bindings: tuple[Binding, ...]
    digest: str | None = None

    @property
    def name(self) -> str:
        return str(self.values["name"])

    def binding(self, key: str) -> Binding | None:
        return next((binding for binding in self.bindings if binding.key == key), None)

    def is_brought_by(self, key: str) -> bool:
        return is_brought_by(self.bindings, key)


@dataclass(frozen=True, kw_only=True, slots=True)
class BoundDevice:
    """A live bound device, with just the fields that decide whether the rest of it is read.

    `brought`: see is_brought_by.
    """

    id: str
    name: str
    external_id: str
    brought: bool
    digest: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceWrite:
    """A write of new values of some fields of `before`, made only while the fields that a synchronisation
    reads are unchanged.

    `vouched`: the user who saved the inventory may vouch for what it says. It keeps the word on a device that
    this moves, and is never given to one that has none: of its port or jump device the inventory knows
    nothing. `bindings` None: they stay. `fields` are the changed fields that an audit event names.
    """

    action: str
    before: KnownDevice
    values: Mapping[str, Any]
    bindings: tuple[Binding, ...] | None = None
    digest: str | None = None
    vouched: bool = False

    def external_id(self, key: str) -> str:
        """Return the external id of the device's binding under the key after the write."""
        bindings = self.before.bindings if self.bindings is None else self.bindings
        return next((binding.external_id for binding in bindings if binding.key == key), "")

    @property
    def fields(self) -> list[str]:
        return sorted(self.values)

    @property
    def name(self) -> str:
        return str(self.values.get("name", self.before.name))


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDevice:
    """A device to make, with the fields of TAKEN_OVER that the inventory has for it.

    `vouched`: as the inventory is.
    """

    values: Mapping[str, Any]
    binding: Binding
    digest: str | None = None
    vouched: bool = False

    @property
    def name(self) -> str:
        return str(self.values["name"])
