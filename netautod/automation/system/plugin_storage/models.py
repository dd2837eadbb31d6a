"""Records of plugins as values: their owner, their sealed form, and the quota."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId
from netautod.core.json import values as json_values
from netautod.plugin_api.storage import MAX_KEY, MAX_LISTED, StorageRefused

# In the order in which the server compares, by bytes; none of these characters ends a part of a path.
KEY = re.compile(rf"[A-Za-z0-9._:/@+=-]{{1,{MAX_KEY}}}")
PART_OF_KEY = re.compile(rf"[A-Za-z0-9._:/@+=-]{{0,{MAX_KEY}}}")
PLUGIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
KEY_TEXT = f"1 to {MAX_KEY} characters of A-Z a-z 0-9 . _ : / @ + = -"


@dataclass(frozen=True, kw_only=True)
class Owner:
    """A plugin within an organization."""

    org_id: OrgId
    plugin: str

    def __str__(self) -> str:
        return f"{self.org_id}/{self.plugin}"


@dataclass(frozen=True, kw_only=True)
class Amount:
    """A number of records and of the bytes of their keys and values; both may be negative."""

    records: int = 0
    bytes: int = 0

    def __neg__(self) -> "Amount":
        return Amount(records=-self.records, bytes=-self.bytes)

    def without(self, other: "Amount") -> "Amount":
        return Amount(records=self.records - other.records, bytes=self.bytes - other.bytes)

    @property
    def growth(self) -> "Amount":
        """Return the part of it that adds something."""
        return Amount(records=max(self.records, 0), bytes=max(self.bytes, 0))

    @property
    def shrinkage(self) -> "Amount":
        return Amount(records=min(self.records, 0), bytes=min(self.bytes, 0))


@dataclass(frozen=True, kw_only=True)
class Quota:
    """The limits of what a plugin may store for one organization, in all and in one value; sizes in bytes."""

    records: int
    bytes: int
    value_bytes: int

    def has_room_for(self, change: Amount, stored: Amount) -> bool:
        """Return whether a change fits.

        A change that does not grow always fits.
        """
        growth = change.growth
        records = not growth.records or stored.records + growth.records <= self.records
        return records and (not growth.bytes or stored.bytes + growth.bytes <= self.bytes)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The amount that a plugin has stored.

    `stored` includes `pending`, which is reserved for writes that are under way and may fail. `loose`: there
    may be less than this, since something was under way when it was counted.
    """

    stored: Amount
    pending: Amount
    revision: int
    loose: bool


@dataclass(frozen=True, kw_only=True)
class KeptRecord:
    """A stored record.

    `sealed` is the value as the vault keeps it, `size` that of key and value before sealing.
    """

    key: str
    sealed: Any = field(repr=False)
    revision: str
    size: int
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class RecordMark:
    """The key and size of a record, known without reading it."""

    key: str
    revision: str
    size: int


def require_key(key: str) -> None:
    """Raise StorageRefused for an invalid key."""
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise StorageRefused(f"A key is {KEY_TEXT}, not {str(key)[:64]!r}")


def require_page(prefix: str, after: str, limit: int) -> None:
    """Raise StorageRefused for an invalid prefix, position or limit."""
    for text in (prefix, after):
        if not isinstance(text, str) or not PART_OF_KEY.fullmatch(text):
            raise StorageRefused(f"Keys are of {KEY_TEXT}; none begins like {str(text)[:64]!r}")
    if type(limit) is not int or not 1 <= limit <= MAX_LISTED:
        raise StorageRefused(f"The limit of a page is 1 to {MAX_LISTED}, not {str(limit)[:64]}")


def written(value: Any) -> bytes:
    """Return the value as JSON.

    Raises StorageRefused for a value that would not be read back as it is.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        read = json.loads(text)
        json_values.check(read)
        same = bool(read == value)
        body = text.encode("utf-8")
    except InvalidInput as error:
        raise StorageRefused(f"The value cannot be stored: {error.text}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise StorageRefused(f"The value is no JSON: {error}") from error
    if not same:
        raise StorageRefused("The value is no JSON: it would be read back as another one")
    return body
