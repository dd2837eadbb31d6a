"""Routes: `/api/devices/:id` patterns, their order, the services that their handlers get, and what refuses
to start."""

import inspect
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tornado.routing import URLSpec
from tornado.web import Application

from netautod.http.access import Operation, operation_of
from netautod.http.answers import METHODS
from netautod.http.context import HttpContext
from netautod.http.handler import JsonHandler, UnknownRouteHandler


@dataclass(frozen=True, kw_only=True)
class Route:
    """`path` with `:name` segments, given to the methods by position."""

    path: str
    handler: type[JsonHandler]

    def operations(self) -> dict[str, Operation]:
        """Declared operations by method name."""
        found = {name: operation_of(getattr(self.handler, name.lower())) for name in METHODS}
        return {name: operation for name, operation in found.items() if operation is not None}

    def needs(self) -> dict[str, type]:
        """The types of services by attribute: what the handler and its bases below JsonHandler annotate."""
        lineage = self.handler.__mro__
        return {
            name: kind
            for each in reversed(lineage[: lineage.index(JsonHandler)])
            for name, kind in inspect.get_annotations(each, eval_str=True).items()
        }


class UndeclaredError(Exception):
    """A handler has a method without an access declaration, or none at all: a mistake in the program."""


class MissingServiceError(Exception):
    """A handler's annotated attribute has no service, or more than one: a mistake in the program."""


def application(routes: Iterable[Route], context: HttpContext, services: Collection[object]) -> Application:
    """The Tornado application; every annotated attribute of a handler becomes the service of that type.

    Raises UndeclaredError for a method that nobody declared, MissingServiceError for an attribute that
    none of the services fits.
    """
    ordered = sorted(routes, key=_specificity)
    for route in ordered:
        _refuse_undeclared(route)
    specs = [
        URLSpec(_pattern(route.path), route.handler, {**_attributes(route, services), "route": route.path})
        for route in ordered
    ]
    return Application(
        specs,
        default_handler_class=UnknownRouteHandler,
        context=context,
        log_function=lambda handler: None,
    )


def _attributes(route: Route, offered: Collection[object]) -> dict[str, object]:
    """The services of the route's handler by the attributes that they become."""
    found: dict[str, object] = {}
    for name, kind in route.needs().items():
        fitting = [service for service in offered if isinstance(service, kind)]
        if len(fitting) != 1:
            raise MissingServiceError(
                f"{route.handler.__name__}.{name} needs one {kind.__name__}, not {len(fitting)}"
            )
        found[name] = fitting[0]
    return found


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
