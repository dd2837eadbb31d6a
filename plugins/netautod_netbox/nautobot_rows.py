"""The mapping of pages of Nautobot's device list, read with `depth=1` (one level of objects), to
RemoteDevices.
"""

from dataclasses import dataclass
from uuid import UUID

from netautod.plugin_api import InventoryPage, RemoteDevice
from netautod_netbox.device_types import DEVICE_TYPE, DeviceTypes, slug_of
from netautod_netbox.errors import Malformed, Unfit
from netautod_netbox.fields import LONGEST_NAME, Row, child, host_of, text, text_in, texts_in
from netautod_netbox.listing import parse
from netautod_netbox.rows import PageMaker, metadata_of, without_address


@dataclass(frozen=True, kw_only=True)
class NautobotPage:
    """A page without the devices of earlier ones; `ids` are all of its ids in their order."""

    page: InventoryPage
    ids: tuple[str, ...]
    count: int


class Manufacturers:
    """The names of manufacturers by id: at depth 1 a device's type only has the id of its manufacturer."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def add(self, row: Row) -> None:
        """Add one of `/api/dcim/manufacturers/`."""
        name = text(row, "name", longest=LONGEST_NAME)
        if name is not None:
            self._names[_id(row)] = name

    def of(self, device_type: Row) -> str | None:
        nested = child(device_type, "manufacturer")
        if nested is None:
            return None
        return text(nested, "name") or self._names.get(_id(nested))


class NautobotRows:
    """A reader of pages, in a thread. `base` is the address of the web interface."""

    def __init__(self, base: str, *, types: DeviceTypes, manufacturers: Manufacturers) -> None:
        self._base = base
        self._types = types
        self._manufacturers = manufacturers
        self.seen: set[str] = set()

    def read(self, body: bytes) -> NautobotPage:
        """Read a page. Raises Malformed."""
        made, ids = PageMaker(), list[str]()

        def take(row: Row) -> None:
            device_id = _id(row)
            ids.append(device_id)
            if device_id not in self.seen:
                self.seen.add(device_id)
                made.add(row, device_id, None, lambda name: self._device(row, device_id, name))

        listing = parse(body, take)
        return NautobotPage(page=made.page(), ids=tuple(ids), count=listing.count)

    def _device(self, row: Row, device_id: str, name: str) -> RemoteDevice:
        kind = child(row, "device_type") or {}
        platform = child(row, "platform") or {}
        manufacturer, model = self._manufacturers.of(kind), text(kind, "model")
        return RemoteDevice(
            external_id=device_id,
            inventory_id=None,
            name=name,
            host=_host(row),
            device_type=self._device_type(platform, manufacturer, model),
            manufacturer=manufacturer,
            model=model,
            platform=text(platform, "name"),
            site=text_in(row, "location", "name"),
            serial_number=text(row, "serial"),
            asset_tag=text(row, "asset_tag"),
            tags=texts_in(row, "tags", "name"),
            metadata=metadata_of(
                row,
                url=f"{self._base}/dcim/devices/{device_id}/",
                platform_slug=_slug(platform),
                status=text_in(row, "status", "name"),
                role=text_in(row, "role", "name"),
            ),
        )

    def _device_type(self, platform: Row, manufacturer: str | None, model: str | None) -> str:
        """Find the device type by the user's own map, else Nautobot's Netmiko driver, else its network
        driver, else our table.
        """
        slug, driver = _slug(platform), text(platform, "network_driver")
        netmiko = text_in(platform, "network_driver_mappings", "netmiko")
        own = self._types.overridden(slug, driver)
        if own is not None:
            return own
        for driver_name in (netmiko, driver):
            if driver_name is not None and DEVICE_TYPE.fullmatch(driver_name):
                return driver_name
        return self._types.find(() if slug is None else (slug,), manufacturer, model)


def _host(row: Row) -> str:
    """Return the primary address. Nautobot does not say which of two it prefers; IPv4 is the one that is more
    often routed.
    """
    address = text_in(row, "primary_ip4", "address") or text_in(row, "primary_ip6", "address")
    if address is not None:
        return host_of(address)
    if child(row, "primary_ip4") is not None or child(row, "primary_ip6") is not None:
        raise Unfit("the token may not see the device's primary IP address")
    raise without_address(row)


def _slug(platform: Row) -> str | None:
    """Make a slug of the name as NetBox does, so that one map serves both: Nautobot 2 dropped the slugs."""
    name = text(platform, "name")
    return None if name is None else slug_of(name)


def _id(row: Row) -> str:
    """Return the UUID in its canonical form."""
    value = row.get("id")
    if not isinstance(value, str) or len(value) != 36:
        raise Malformed("an object has no UUID")
    try:
        return str(UUID(value))
    except ValueError as error:
        raise Malformed("an object has no UUID") from error
