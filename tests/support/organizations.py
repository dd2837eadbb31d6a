"""What of an organization stands in a database, wherever that is; unknown collections are told."""

from collections.abc import Iterable, Mapping
from typing import Any

from netautod.maintenance.deletion.ownership import KNOWN

# Its id may stand in the audit of the installation: who deleted what.
AUDIT = {"audit_events"}


def unknown_collections(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("system.")} - KNOWN


def of_organization(
    documents: Mapping[str, list[dict[str, Any]]], org_id: str, prefix: str
) -> dict[str, list[Any]]:
    """By collection the ids of documents that hold the organization's id, or `prefix-` in a text.

    Events that tell of its deletion are left out.
    """
    found = {
        name: [
            row["_id"]
            for row in rows
            if any(org_id in text or f"{prefix}-" in text for text in texts(row))
            and not (name in AUDIT and str(row.get("action", "")).startswith("organization.delete"))
        ]
        for name, rows in documents.items()
    }
    return {name: ids for name, ids in found.items() if ids}


def texts(value: Any) -> Iterable[str]:
    """All texts in a document, those of keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key)
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
