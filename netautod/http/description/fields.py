"""The OpenAPI description of our fields beyond what apispec sees: bounds, formats, and how a query is
written.
"""

from collections.abc import Sequence
from typing import Any

from netautod.core.schema.bases import Id, Name, Query, QueryInteger, QueryTimestamp, Request
from netautod.core.schema.bounds import MOST_ELEMENTS, MOST_TEXT

NOT_BLANK = r"\S"
HIGHEST = 2**63 - 1  # of the integers in a body (core/json/values.py)
PARAMETERS = {
    "limit": "How many at most.",
    "offset": "How many to leave out at the beginning.",
    "since": "Not before this moment.",
    "until": "Before this moment.",
    "q": "A text to search for.",
}
"""Of query parameters that mean the same everywhere and say nothing of themselves."""


def described(converter: Any, field: Any, *, ret: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Complete `ret`, the field's schema so far: an attribute function of apispec."""
    # Schemas are abstract classes: isinstance would ask all of them, and each would remember that for good.
    lineage: Sequence[type] = type(field.root).__mro__
    found = _form(field, ret)
    if Request in lineage:
        found |= _bound(field, {**ret, **found})
        if field.parent is field.root and not field.root.partial and not field.required:
            found |= _nullable(ret, found)
    if Query in lineage:
        found |= _parameter(field, ret)
    ret.update(found)
    _choice(ret)
    return {}


def _form(field: Any, ret: dict[str, Any]) -> dict[str, Any]:
    if isinstance(field, Id):
        return {"format": "uuid"}
    if hasattr(field, "described"):
        return dict(field.described)
    if "pattern" in ret:
        return {"pattern": _ecma(ret["pattern"])}
    return {"pattern": NOT_BLANK} if isinstance(field, Name) else {}


def _ecma(pattern: str) -> str:
    r"""Return a pattern of Python's re.match for JSON Schema: in ECMA-262, which has no `\Z`, and
    anchored."""
    whole = f"{pattern[:-2]}$" if pattern.endswith("\\Z") else pattern
    if whole.startswith("^"):
        return whole
    return f"^(?:{whole})" if "|" in whole else f"^{whole}"


def _bound(field: Any, ret: dict[str, Any]) -> dict[str, Any]:
    """Return the bound of a text, a number or an array of a request, also of one that declares none by
    itself.
    """
    kinds = ret.get("type", ())
    bounds: tuple[tuple[str, str, int], ...] = (
        ("string", "maxLength", getattr(field, "most", MOST_TEXT)),
        ("array", "maxItems", getattr(field, "most", MOST_ELEMENTS)),
        ("integer", "minimum", -HIGHEST - 1),
        ("integer", "maximum", HIGHEST),
    )
    if "enum" in ret:
        return {}
    if "array" in kinds:
        ret.pop("maxLength", None)  # apispec takes the validator of an array for one of a text
    return {name: bound for kind, name, bound in bounds if kind in kinds and name not in ret}


def _nullable(ret: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field that a request may leave out, where null counts as absent
    (core/schema/bases.py).
    """
    forms = {"anyOf": [*found["anyOf"], {"type": "null"}]} if "anyOf" in found else {}
    return {"type": [ret["type"], "null"], **forms} if isinstance(ret.get("type"), str) else forms


def _choice(ret: dict[str, Any]) -> None:
    """Separate what may be chosen from that it may be null: generators make one type of each then."""
    kinds = ret.get("type")
    if "enum" in ret and isinstance(kinds, list):
        choices = [one for one in ret.pop("enum") if one is not None]
        kind = next(one for one in ret.pop("type") if one != "null")
        ret["anyOf"] = [{"type": kind, "enum": choices}, {"type": "null"}]


def _parameter(field: Any, ret: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a query's parameter, which cannot be null."""
    found: dict[str, Any] = {}
    if isinstance(ret.get("type"), list):
        found["type"] = next(kind for kind in ret["type"] if kind != "null")
    if "enum" in ret:
        found["enum"] = [choice for choice in ret["enum"] if choice is not None]
    if isinstance(field, QueryTimestamp):
        found["format"] = "date-time"
    if isinstance(field, QueryInteger):
        found |= {"minimum": field.low, "maximum": QueryInteger.HIGHEST if field.high is None else field.high}
    if ret.get("default", "") is None:
        del ret["default"]
    if "description" not in ret:
        found["description"] = _described_parameter(field)
    return found


def _described_parameter(field: Any) -> str:
    text = PARAMETERS.get(field.name, f"{field.name.replace('_', ' ').capitalize()}.")
    if isinstance(field, QueryInteger) and field.cap is not None:
        text += f" A larger number counts as {field.cap:,}."
    return text
