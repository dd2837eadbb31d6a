"""Forms of pages: their fields as texts, and as the values that the schemas of the API take."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from marshmallow import Schema, fields
from tornado.httputil import HTTPFile, HTTPInputError, parse_body_arguments

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.core.schema.bases import Ids, load

# What a page declares to take; the schema of the values is that of the API's route.
FORM: Mapping[str, Any] = {"application/x-www-form-urlencoded": {}, "multipart/form-data": {}}
_WHOLE = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form that a browser has sent.

    `given` has the fields in the order of the page; of several values of a name the last one counts.
    """

    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """Return the field without white space around it."""
        return self.given[name][-1].strip() if name in self.given else default

    def secret(self, name: str) -> str:
        """Return the field exactly as typed."""
        return self.given[name][-1] if name in self.given else ""

    def all(self, name: str) -> list[str]:
        """Return every value that is not empty: of check boxes with one name, or of a list of choices."""
        return [one for one in self.given.get(name, ()) if one.strip()]

    def has(self, name: str) -> bool:
        """Return whether the field is filled in or ticked."""
        return bool(self.text(name))

    def values(self, schema: Schema, *, partial: bool = False) -> dict[str, Any]:
        """Validate the form as the body of the API's route and return the values.

        An empty field is null with `partial`, else it is left out; a required one stays empty with `partial`,
        so that the schema refuses it (but not a secret: without one the old one stays). A tick box has a
        hidden empty field of its name before it: a box without a tick is false, and a box that is not on the
        page is absent. Objects are JSON, or fields of their own with dotted names; a list is several fields
        of its name, or one field with a value on each line.

        Raises InvalidInput, which names the fields.
        """
        return load(schema, self._raw(schema, "", partial=partial), partial=partial)

    def _raw(self, schema: Schema, prefix: str, *, partial: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, kind in schema.fields.items():
            name = f"{prefix}{kind.data_key or key}"
            if isinstance(kind, fields.Nested) and name not in self.given:
                inner = self._raw(kind.schema, f"{name}.", partial=partial)
                if inner:
                    found[kind.data_key or key] = inner
            elif name in self.given:
                value = self._value(name, kind)
                if value is None and partial and kind.required and not kind.load_only:
                    value = ""
                if value is not None or (partial and kind.allow_none):
                    found[kind.data_key or key] = value
        return found

    def _value(self, name: str, kind: fields.Field[Any]) -> Any:
        text = self.given[name][-1]
        if isinstance(kind, fields.List | Ids):
            return self._several(name, kind)
        if isinstance(kind, fields.Boolean):
            return bool(text.strip())
        if getattr(kind, "may_be_blank", False):
            return with_newlines(text)
        if not text.strip():
            return None
        if isinstance(kind, fields.Integer):
            return int(text) if _WHOLE.fullmatch(text.strip()) else text
        if isinstance(kind, fields.Float):
            return _number(text)
        if isinstance(kind, fields.Dict | fields.Nested):
            return json_of(text, name)
        return with_newlines(text)

    def _several(self, name: str, kind: fields.Field[Any]) -> list[Any]:
        lines = [line.strip() for value in self.given[name] for line in value.splitlines()]
        inner = kind.inner if isinstance(kind, fields.List) else None
        whole = isinstance(inner, fields.Integer)
        return [int(line) if whole and _WHOLE.fullmatch(line) else line for line in lines if line]


def with_newlines(text: str) -> str:
    """Return the text with plain newlines: HTML sends every line break as two characters (its section
    4.10.22.4).
    """
    return text.replace("\r\n", "\n")


def json_of(text: str, name: str) -> Any:
    """Parse the JSON of a field.

    Raises InvalidInput that names the field, the line and the column.
    """
    try:
        value = json.loads(text, parse_constant=json_values.no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name}: Not valid JSON: {error}") from error
    json_values.check(value)
    return value


def read_form(body: bytes, content_type: str) -> Form:
    """Parse the body of a form.

    Raises InvalidInput if the body is no form or has texts that are not UTF-8.
    """
    arguments: dict[str, list[bytes]] = {}
    files: dict[str, list[HTTPFile]] = {}
    try:
        parse_body_arguments(content_type, body, arguments, files)
    except (HTTPInputError, ValueError) as error:
        raise InvalidInput("The body is not a valid form") from error
    return Form(
        given={name: [_decoded(name, value) for value in values] for name, values in arguments.items()},
        files={name: sent[-1].body for name, sent in files.items() if sent[-1].body},
    )


def _decoded(name: str, value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name}: Not valid UTF-8") from error
    json_values.check_text(text, name)
    return text


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
