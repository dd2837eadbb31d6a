"""The mapping of pages of NetBox's device list to RemoteDevices."""

from dataclasses import dataclass

from netautod.plugin_api import InventoryPage, RemoteDevice
from netautod_netbox.device_types import DeviceTypes
from netautod_netbox.errors import Malformed
from netautod_netbox.fields import Row, child, host_of, integer, text, text_in, texts_in
from netautod_netbox.filters import Obedience
from netautod_netbox.listing import INT64_MAX, parse
from netautod_netbox.rows import PageMaker, metadata_of, without_address

# 4.0 and later send these only; before, the parameter `fields` is ignored and everything comes. `exclude`
# spares the rendering of config contexts, which costs most (netbox/extras/api/mixins.py).
QUERY = (
    ("exclude", "config_context"),
    (
        "fields",
        "id,name,device_type,role,tenant,platform,serial,asset_tag,site,location,rack,status,primary_ip,"
        "virtual_chassis,vc_position,description,tags,custom_fields",
    ),
)
DEEPEST_PLATFORM = 16


@dataclass(frozen=True, kw_only=True)
class NetBoxPage:
    """A page; `last` is the highest id on it and before, `count` how many devices it said to be left."""

    page: InventoryPage
    last: int
    rows: int
    count: int


class PlatformTree:
    """The parents of nested platforms (4.4 and later): a device names its own platform only."""

    def __init__(self) -> None:
        self._slugs: dict[int, str] = {}
        self._parents: dict[int, int] = {}
        self._ids: dict[str, int] = {}

    @property
    def last(self) -> int:
        """The highest id."""
        return max(self._slugs, default=0)

    def add(self, row: Row) -> None:
        """Add one of `/api/dcim/platforms/`."""
        platform_id, slug, parent = _id(row), text(row, "slug"), child(row, "parent")
        if slug is None:
            raise Malformed("a platform has no slug")
        self._slugs[platform_id] = slug
        self._ids[slug] = platform_id
        if parent is not None:
            self._parents[platform_id] = _id(parent)

    def line(self, slug: str) -> tuple[str, ...]:
        """Return the slug, its parent's, its grandparent's; cut at a depth that no real tree has."""
        found = [slug]
        platform_id = self._ids.get(slug)
        while platform_id is not None and len(found) < DEEPEST_PLATFORM:
            platform_id = self._parents.get(platform_id)
            if platform_id in self._slugs:
                found.append(self._slugs[platform_id])
        return tuple(found)


class NetBoxRows:
    """A reader of pages, in a thread. `base` is the address of the web interface."""

    def __init__(self, base: str, *, types: DeviceTypes, tree: PlatformTree, obedience: Obedience) -> None:
        self._base = base
        self._types = types
        self._tree = tree
        self._obedience = obedience

    def read(self, body: bytes, after: int) -> NetBoxPage:
        """Read a page. Raises Malformed for another order than by id, for a page that does not get past
        `after`, and for a device that the filters exclude.
        """
        made = PageMaker()
        last = 0

        def take(row: Row) -> None:
            nonlocal last
            device_id = _id(row)
            if device_id < last:
                raise Malformed("the devices are not in the order of their ids")
            is_new = device_id > max(last, after)
            last = device_id
            if is_new:
                self._check_filters(row)
                made.add(row, str(device_id), device_id, lambda name: self._device(row, device_id, name))

        listing = parse(body, take)
        if listing.rows and last <= after:
            raise Malformed("the next page has the devices of an earlier one")
        return NetBoxPage(page=made.page(), last=max(last, after), rows=listing.rows, count=listing.count)

    def _check_filters(self, row: Row) -> None:
        ignored = self._obedience.ignored(row)
        if ignored is not None:
            raise Malformed(f"it ignores the filter {ignored}")

    def _device(self, row: Row, device_id: int, name: str) -> RemoteDevice:
        kind = child(row, "device_type") or {}
        platform = child(row, "platform") or {}
        manufacturer = child(kind, "manufacturer") or {}
        slug, model = text(platform, "slug"), text(kind, "model")
        role = child(row, "role") or child(row, "device_role")  # the latter until 3.x
        line = () if slug is None else self._tree.line(slug)
        return RemoteDevice(
            external_id=str(device_id),
            inventory_id=device_id,
            name=name,
            host=_host(row),
            device_type=self._types.find(line, text(manufacturer, "slug"), model),
            description=text(row, "description"),
            manufacturer=text(manufacturer, "name"),
            model=model,
            platform=text(platform, "name"),
            site=text_in(row, "site", "name"),
            serial_number=text(row, "serial"),
            asset_tag=text(row, "asset_tag"),
            tags=texts_in(row, "tags", "slug"),
            metadata=metadata_of(
                row,
                url=f"{self._base}/dcim/devices/{device_id}/",
                platform_slug=slug,
                status=text_in(row, "status", "value"),
                role=None if role is None else text(role, "name"),
                location=text_in(row, "location", "name"),
            ),
        )


def _host(row: Row) -> str:
    """Return `primary_ip`, the one of the two addresses that NetBox prefers (its setting PREFER_IPV4)."""
    address = text_in(row, "primary_ip", "address")
    if address is not None:
        return host_of(address)
    raise without_address(row)


def _id(row: Row) -> int:
    found = integer(row, "id")
    if found is None or not 0 < found <= INT64_MAX:
        raise Malformed("an object has no id")
    return found
