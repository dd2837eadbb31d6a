"""The routes of the service that take a body, without what is behind them, and bodies for them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from marshmallow import fields

from netautod.assembly.routes import ROUTES
from netautod.core.schema.bases import Request
from netautod.http.access import MIB, public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route


@dataclass(frozen=True, kw_only=True)
class Target:
    """A POST or PUT of the service: `said` is how it is called there, `path` where its double listens."""

    said: str
    path: str
    schema: type[Request]
    partial: bool
    limit: int

    def route(self) -> Route:
        class Double(JsonHandler):
            @public(body=self.schema, partial=self.partial, body_limit=self.limit)
            async def post(self) -> None:
                """Reads the body as the route does, and gives it back."""
                self.answer({"taken": True})

        return Route(path=self.path, handler=Double)


def targets() -> Iterator[Target]:
    for number, route in enumerate(ROUTES):
        for method, operation in route.operations().items():
            if operation.body is not None:
                yield Target(
                    said=f"{method} {route.path}",
                    path=f"/api/double/{number}/{method.lower()}",
                    schema=operation.body,
                    partial=operation.partial,
                    limit=operation.body_limit,
                )


def many_fields(limit: int) -> bytes:
    """As many unknown fields as fit in a MiB, or in the body."""
    count = min(limit, MIB) // 16
    return json.dumps(dict.fromkeys((f"k{number:08}" for number in range(count)), 1)).encode()


def list_fields(kind: type[Request]) -> list[str]:
    """The fields that take an array, or an object with arrays."""
    return [name for name, field in kind().load_fields.items() if _takes_arrays(field)]


def _takes_arrays(field: fields.Field[Any]) -> bool:
    return not isinstance(field, fields.String | fields.Integer | fields.Boolean)
