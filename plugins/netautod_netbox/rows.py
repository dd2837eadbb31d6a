"""The common parts of rows of NetBox and Nautobot: a page is built of them, and the fields that both have."""

from collections.abc import Callable, Mapping
from typing import Any

from netautod.plugin_api import InventoryPage, RemoteDevice, RemoteProblem
from netautod_netbox.errors import Unfit
from netautod_netbox.fields import LONGEST_NAME, Row, child, custom_fields, integer, text, text_in


class PageMaker:
    """A collector of the devices of a page, and as problems those that cannot be imported."""

    def __init__(self) -> None:
        self._devices: list[RemoteDevice] = []
        self._problems: list[RemoteProblem] = []

    def add(
        self, row: Row, external_id: str, inventory_id: int | None, device: Callable[[str], RemoteDevice]
    ) -> None:
        """Add a row; `device` builds the device, given its name; what it raises as Unfit becomes a
        problem.
        """
        name: str | None = None
        try:
            name = text(row, "name", longest=LONGEST_NAME)
            if name is None:
                raise Unfit("the device has no name")
            self._devices.append(device(name))
        except Unfit as error:
            self._problems.append(
                RemoteProblem(external_id=external_id, inventory_id=inventory_id, name=name, error=error.text)
            )

    def page(self) -> InventoryPage:
        return InventoryPage(devices=tuple(self._devices), problems=tuple(self._problems))


def metadata_of(row: Row, *, url: str, **own: Any) -> Mapping[str, Any]:
    """Return a system's `own` metadata and what both have, without absent values.

    Nothing is in it that changes by itself, such as `last_updated`: it would make every sync an update.
    """
    found = {
        "url": url,
        **own,
        "tenant": text_in(row, "tenant", "name"),
        "rack": text_in(row, "rack", "name"),
        "virtual_chassis": text_in(row, "virtual_chassis", "name"),
        "vc_position": integer(row, "vc_position"),
        "custom_fields": custom_fields(row) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def without_address(row: Row) -> Unfit:
    """Return why a device that has no primary address cannot be imported."""
    if child(row, "virtual_chassis") is None:
        return Unfit("the device has no primary IP address")
    chassis = text_in(row, "virtual_chassis", "name") or "without a name"
    return Unfit(f"the member of the virtual chassis {chassis} has no primary IP address of its own")
