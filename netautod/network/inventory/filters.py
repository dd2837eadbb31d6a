"""The filters by which devices of an inventory are chosen: brings the forms of requests into one."""

from collections.abc import Mapping
from typing import Any

from netautod.core.json.values import check_text

LISTS = ("sites", "roles", "manufacturers", "platforms", "statuses", "tags", "tenants")
LEGACY = {"site": "sites", "role": "roles"}  # single texts of older clients
NAMES = frozenset({*LISTS, *LEGACY, "name"})
MOST_SLUGS, LONGEST = 200, 255
MOST_BYTES = 2 * len(LISTS) * MOST_SLUGS * LONGEST  # as JSON, which may take two bytes for one

Complaints = dict[str, list[str]]


def merged(values: Mapping[str, Any]) -> tuple[dict[str, Any], Complaints]:
    """Return the filters that narrow something, and what is wrong with which key. A null narrows nothing."""
    found: dict[str, Any] = {}
    wrong: Complaints = {}
    for key, value in values.items():
        complaint = _complaint(key, value)
        if complaint is not None:
            wrong[key] = [complaint]
        elif value is None or value == [] or value == "":
            continue
        elif key == "name":
            found["name"] = value.strip()
        else:
            slugs = [value] if key in LEGACY else value
            into = LEGACY.get(key, key)
            tidy = [*found.get(into, []), *(slug.strip() for slug in slugs)]
            found[into] = list(dict.fromkeys(tidy))
    return found, wrong


def _complaint(key: str, value: Any) -> str | None:
    if key not in NAMES:
        return "Unknown field."
    if value is None:
        return None
    if key in LISTS:
        if isinstance(value, list) and len(value) > MOST_SLUGS:
            return f"More than {MOST_SLUGS} slugs."
        slugs = isinstance(value, list) and all(_is_slug(slug) for slug in value)
        return None if slugs else "Must be an array of slugs."
    return None if value == "" or _is_slug(value) else "Must be a text."


def _is_slug(value: Any) -> bool:
    if not isinstance(value, str) or not 0 < len(value.strip()) <= LONGEST:
        return False
    check_text(value, "filters")
    return value.isprintable()
