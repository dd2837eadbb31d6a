"""The bounds of what a request may hold: looked at before marshmallow, which makes a text of every complaint.

Every field has one, declared or not: a route that says nothing takes 4,096 characters in a text, 200 elements
in an array and 64 KiB in an object. Nothing beyond a bound is looked at any further.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from marshmallow import RAISE, Schema, fields, validate

from netautod.core.json.parts import encoded_parts

MOST_NAMED = 10  # in one error
MOST_TEXT = 4096
MOST_ELEMENTS = 200
MOST_IDS = 10_000
MOST_OBJECT_BYTES = 64 * 1024
UNKNOWN = "Unknown field."


@dataclass(frozen=True, kw_only=True)
class Complaints:
    """The first ten of all that is wrong, and how many there are."""

    named: Mapping[str, str]
    count: int


def complaints(schema: Schema, data: Any) -> Complaints | None:
    """Return what is too much in the data of a request; None if marshmallow may process all of it."""
    found = _complaints(schema, data, "") if isinstance(data, Mapping) else iter(())
    named = dict(islice(found, MOST_NAMED))
    count = len(named) + sum(1 for _ in found)
    broken = any(text != UNKNOWN for text in named.values())
    return Complaints(named=named, count=count) if broken or count > MOST_NAMED else None


def _complaints(schema: Schema, data: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield complaints, bounds first: they say more than unknown names, and there are never many of them."""
    known = {field.data_key or name: field for name, field in schema.load_fields.items()}
    for name, field in known.items():
        if name in data:
            yield from _of_field(field, data[name], path + name)
    if schema.unknown == RAISE:
        ignored: frozenset[str] = getattr(schema, "read_only", frozenset())
        yield from ((path + name, UNKNOWN) for name in data if name not in known and name not in ignored)


def _of_field(field: fields.Field[Any], value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        # Shorter ones are marshmallow's: it measures them when they are trimmed.
        if len(value) > max(most := _most(field, MOST_TEXT), MOST_TEXT):
            yield path, f"Longer than maximum length {most}."
    elif isinstance(value, list):
        most = _most(field, MOST_ELEMENTS)
        if len(value) > most:
            yield path, f"Longer than maximum length {most}."
        elif isinstance(field, fields.List | fields.Nested):
            inner = field.inner if isinstance(field, fields.List) else field
            for position, element in enumerate(value):
                yield from _of_field(inner, element, f"{path}.{position}")
    elif isinstance(value, dict):
        yield from _of_object(field, value, path)


def _of_object(field: fields.Field[Any], value: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    if isinstance(field, fields.Nested):
        yield from _complaints(field.schema, value, f"{path}.")
    elif isinstance(field, fields.Dict | fields.Raw):  # any other field refuses an object unseen
        known = getattr(field, "names", value)
        yield from ((f"{path}.{name}", UNKNOWN) for name in value if name not in known)
        if complaint := too_large(value, getattr(field, "most_bytes", MOST_OBJECT_BYTES)):
            yield path, complaint


def too_large(value: dict[str, Any], most: int) -> str | None:
    """Return the complaint about an object that takes more bytes than that as JSON, or None."""
    size = 0
    for part in encoded_parts(value):
        size += len(part)
        if size > most:
            return f"Larger than {most // 1024} KiB as JSON."
    return None


def _most(field: fields.Field[Any], otherwise: int) -> int:
    """Return the length that the field declares, itself or by a validator of marshmallow."""
    lengths = [one.max for one in field.validators if isinstance(one, validate.Length)]
    declared = [length for length in (getattr(field, "most", None), *lengths) if length is not None]
    return min(declared, default=otherwise)
