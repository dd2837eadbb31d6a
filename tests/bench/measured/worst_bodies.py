"""The worst bodies of every route that takes one, made from the table of routes and their schemas."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from marshmallow import fields, validate

from netautod.core.schema.bases import Ids, Request
from netautod.core.schema.bounds import MOST_TEXT
from netautod.http.access import Operation
from netautod.http.routing.routes import Route

NOBODY = str(UUID(int=1))
CLOSED = "http://127.0.0.1:1"  # nobody has to wait for it
# What a field takes that is no free text, so that a body fails for its size alone, or is stored.
EXAMPLES: Mapping[str, Any] = {
    "host": "192.0.2.1",
    "device_type": "generic",
    "task_type": "backup",
    "cron_expression": "0 0 1 1 *",
    "timezone": "UTC",
    "url": CLOSED,
    "inventory_url": CLOSED,
}


@dataclass(frozen=True, kw_only=True)
class WorstBody:
    method: str
    path: str
    kind: str
    content: bytes

    @property
    def route(self) -> str:
        return f"{self.method} {self.path}"


def worst_bodies(routes: tuple[Route, ...]) -> Iterator[WorstBody]:
    """Of every POST and PUT, those that read no body as well: they get one nevertheless."""
    for route in routes:
        for method, operation in route.operations().items():
            if method in ("POST", "PUT"):
                for kind, content in _of_operation(operation):
                    assert len(content) <= operation.body_limit, (route.path, kind)
                    yield WorstBody(method=method, path=route.path, kind=kind, content=content)


def _of_operation(operation: Operation) -> Iterator[tuple[str, bytes]]:
    limit = operation.body_limit
    yield "unknown fields", _filled('"{:x}":1', limit, around=("{", "}"))
    if operation.consumes is not None:
        yield "rows", _filled('{{"a":1}}', limit, around=("[", "]"))
        yield "csv", (b"name,host,device_type\n" + b"a,b,c\n" * (limit // 6))[:limit]
    if operation.body is not None:
        yield "long names", _filled('"' + "n" * 2000 + '{:x}":1', limit, around=("{", "}"))
        yield "a fraction of many digits", b'{"a":1.' + b"9" * (limit - 8) + b"}"
        yield "empty arrays", _filled("[]", limit, around=('{"a":[', "]}"))
        yield from _of_fields(operation.body, limit)


def _of_fields(kind: type[Request], limit: int) -> Iterator[tuple[str, bytes]]:
    schema = kind()
    needed = {name: _example(name, field) for name, field in schema.load_fields.items() if field.required}
    for name, field in schema.load_fields.items():
        rest = {other: value for other, value in needed.items() if other != name}
        before = json.dumps(rest)[:-1] + (", " if rest else "") + f'"{name}":'
        for what, opening, item, closing, most in _fillings(field):
            room = min(limit, most + len(before) + 1)
            yield f"{name}: {what}", _filled(item, room, around=(before + opening, closing + "}"))


def _fillings(field: fields.Field[Any]) -> Iterator[tuple[str, str, str, str, int]]:
    """What, opening, items, closing, and the bytes that make the value the largest one taken."""
    far = 1 << 40
    if isinstance(field, Ids):
        yield "wrong ids", "[", '"{:x}"', "]", far
        yield "10,000 wrong ids", "[", '"{:04x}"', "]", 7 * 10_000
        yield "10,000 ids", "[", '"00000000-0000-4000-8000-{:012x}"', "]", 39 * 10_000 + 1
    elif isinstance(field, fields.List):
        yield "arrays", "[", "[]", "]", far
    elif isinstance(field, fields.Dict):
        most = getattr(field, "most_bytes", far)
        yield "names", "{{", '"{:x}":1', "}}", most
        yield "arrays", '{{"a":[', "[]", "]}}", most
        yield "nested arrays", '{{"a":[', "[[[]]]", "]}}", most
        yield "numbers beyond what is taken", '{{"a":[', "1", "]}}", far
    elif isinstance(field, fields.String) and longest(field) > MOST_TEXT:
        yield "line breaks", '"', "\\n" * 500, '"', 2 * longest(field)
        yield "control characters", '"', "\\u0001" * 100, '"', 6 * longest(field)


def longest(field: fields.String) -> int:
    """How many characters it takes."""
    lengths = [one.max for one in field.validators if isinstance(one, validate.Length)]
    return min((length for length in lengths if length), default=getattr(field, "most", MOST_TEXT))


def _example(name: str, field: fields.Field[Any]) -> Any:
    if name in EXAMPLES:
        return EXAMPLES[name]
    chosen = [one for one in field.validators if isinstance(one, validate.OneOf)]
    if chosen:
        return next(iter(chosen[0].choices))
    if isinstance(field, fields.List | Ids):
        return []
    return "abcdefghijkl"


@cache
def _filled(item: str, limit: int, *, around: tuple[str, str]) -> bytes:
    """As many items as fit, numbered, between the two."""
    opening, closing = (text.replace("{{", "{").replace("}}", "}") for text in around)
    comma = "" if opening.endswith('"') else ","
    room, number = limit - len(opening.encode()) - len(closing.encode()), 0
    parts: list[str] = []
    while True:
        part = (comma if number else "") + item.format(number)
        room -= len(part.encode())
        if room < 0:
            return (opening + "".join(parts) + closing).encode()
        parts.append(part)
        number += 1
