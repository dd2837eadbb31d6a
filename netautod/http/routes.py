"""Routes: `/api/devices/:id` patterns, their order, and the refusal to start with an undeclared method."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tornado.routing import URLSpec
from tornado.web import Application

from netautod.http.access import Operation, operation_of
from netautod.http.context import HttpContext
from netautod.http.handler import METHODS, JsonHandler, UnknownRouteHandler


@dataclass(frozen=True, kw_only=True)
class Route:
    """`path` with `:name` segments, given to the methods by position; `services` become attributes."""

    path: str
    handler: type[JsonHandler]
    services: Mapping[str, Any] = field(default_factory=dict)

    def operations(self) -> dict[str, Operation]:
        """Declared operations by method name."""
        found = {name: operation_of(getattr(self.handler, name.lower())) for name in METHODS}
        return {name: operation for name, operation in found.items() if operation is not None}


class UndeclaredError(Exception):
    """A handler has a method without an access declaration, or none at all: a mistake in the program."""


def application(routes: Iterable[Route], context: HttpContext) -> Application:
    """The Tornado application; raises UndeclaredError rather than serve a method nobody declared."""
    ordered = sorted(routes, key=_specificity)
    for route in ordered:
        _refuse_undeclared(route)
    specs = [URLSpec(_pattern(route.path), route.handler, dict(route.services)) for route in ordered]
    return Application(
        specs,
        default_handler_class=UnknownRouteHandler,
        context=context,
        log_function=lambda handler: None,
    )


def _specificity(route: Route) -> tuple[tuple[bool, str], ...]:
    # A literal segment goes before a parameter in the same place: /devices/browse before /devices/:id.
    return tuple((segment.startswith(":"), segment) for segment in route.path.split("/"))


def _pattern(path: str) -> str:
    parts = ["([^/]+)" if part.startswith(":") else re.escape(part) for part in path.split("/")]
    return "/".join(parts) + "$"


def _refuse_undeclared(route: Route) -> None:
    for name in METHODS:
        method = route.handler.__dict__.get(name.lower())
        if method is not None and operation_of(method) is None:
            raise UndeclaredError(f"{route.handler.__name__}.{name.lower()} does not declare who may call it")
    if not route.operations():
        raise UndeclaredError(f"{route.handler.__name__} has no declared method")
