"""The filters of a sync as query parameters, and whether the inventory obeyed them.

NetBox ignores parameters that it does not know: what should have been a few devices would be all of them. So
each device of an answer is compared with the filters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from netautod.plugin_api import InventoryFailed
from netautod_netbox.fields import Row, child, children
from netautod_netbox.urls import Query

# By slug, name and status exactly. `tag` repeated means all of them, every other one any of them
# (NetBox: docs/reference/filtering.md).
NETBOX = {
    "sites": "site",
    "roles": "role",
    "manufacturers": "manufacturer",
    "platforms": "platform",
    "statuses": "status",
    "tags": "tag",
    "tenants": "tenant",
    "name": "name",
}
# By name or UUID: Nautobot 2 dropped the slugs (nautobot/dcim/filters: NaturalKeyOrPKMultipleChoiceFilter).
# Unknown parameters are refused there with a 400.
NAUTOBOT = {**NETBOX, "sites": "location", "tags": "tags"}


def query_of(filters: Mapping[str, Any], names: Mapping[str, str]) -> Query:
    """Return repeated parameters, in the order of the filters. Raises InventoryFailed for a filter without
    one.
    """
    found: list[tuple[str, str]] = []
    for key, wanted in filters.items():
        if key not in names:
            raise InventoryFailed(f"the filter {key} is not known here")
        found += [(names[key], value) for value in _values(wanted)]
    return tuple(found)


class Obedience:
    """A comparison of the devices of NetBox with the filters."""

    def __init__(self, filters: Mapping[str, Any]) -> None:
        self._wanted = {key: {_folded(value) for value in _values(wanted)} for key, wanted in filters.items()}

    def ignored(self, row: Row) -> str | None:
        """Return the first filter that the device does not match; None if it matches all."""
        for key, wanted in self._wanted.items():
            if wanted and not _matches(row, key, wanted):
                return key
        return None


def _matches(row: Row, key: str, wanted: set[str]) -> bool:
    if key == "tags":
        return wanted <= {_folded(tag.get("slug")) for tag in children(row, "tags")}
    if key == "name":
        return _folded(row.get("name")) in wanted
    if key == "statuses":
        return _folded((child(row, "status") or {}).get("value")) in wanted
    if key == "manufacturers":
        return _has_slug(child(child(row, "device_type") or {}, "manufacturer"), wanted)
    if key == "roles":
        return _has_slug(child(row, "role") or child(row, "device_role"), wanted)
    return _has_slug(child(row, {"sites": "site", "platforms": "platform", "tenants": "tenant"}[key]), wanted)


def _has_slug(nested: Row | None, wanted: set[str]) -> bool:
    """Return whether a role or platform matches the filter, or is below one that does (4.3 and later), which
    only says `_depth`.
    """
    if nested is None:
        return False
    return bool(nested.get("_depth")) or _folded(nested.get("slug")) in wanted


def _values(wanted: Any) -> Sequence[str]:
    return [wanted] if isinstance(wanted, str) else [str(value) for value in wanted]


def _folded(value: Any) -> str:
    return str(value).casefold()
