"""Routes: `/api/devices/:id` patterns, the services that their handlers get, and what refuses to start.

The rule of injection: a service gets what it needs from its constructor, called by hand in a module of
`netautod.assembly`. Only a handler, which Tornado constructs for every request, gets its services otherwise:
it annotates attributes, and each becomes the one service of that type out of the groups (`Services`) that
assembly has built. So a new service is one field of its group, and no list names it again.
"""

import inspect
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from tornado.escape import url_unescape
from tornado.httputil import HTTPServerRequest
from tornado.web import Application

from netautod.http.access import METHODS, Operation, operation_of
from netautod.http.admission import OWN_ACCOUNT
from netautod.http.context import HttpContext
from netautod.http.handler import JsonHandler
from netautod.http.routing.route_table import RouteTable
from netautod.http.routing.unknown_route import UnknownRouteHandler


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route. `path` has `:name` segments, which are given to the methods by position."""

    path: str
    handler: type[JsonHandler]

    def operations(self) -> dict[str, Operation]:
        """Return the declared operations by method name."""
        found = {name: operation_of(getattr(self.handler, name.lower())) for name in METHODS}
        return {name: operation for name, operation in found.items() if operation is not None}

    def needs(self) -> dict[str, type]:
        """Return the types of services by attribute: what the handler and its bases below JsonHandler
        annotate, but for private names.
        """
        lineage = self.handler.__mro__
        return {
            name: kind
            for each in reversed(lineage[: lineage.index(JsonHandler)])
            for name, kind in inspect.get_annotations(each, eval_str=True).items()
            if not name.startswith("_")
        }


class UndeclaredError(Exception):
    """Raised for a handler with a method that has no access declaration, or without any: a mistake in the
    program.
    """


class MissingServiceError(Exception):
    """Raised for a handler whose annotated attribute has no service, or more than one: a mistake in the
    program.
    """


def application(
    routes: Iterable[Route],
    context: HttpContext,
    services: Collection[object],
    *,
    unknown: type[JsonHandler] = UnknownRouteHandler,
) -> Application:
    """Return the Tornado application; every annotated attribute of a handler becomes the service of that
    type.

    `unknown` answers the paths of no route. Raises UndeclaredError for a method without a declaration,
    MissingServiceError for an attribute that none of the services fits.
    """
    made = _RoutedApplication(
        default_handler_class=unknown,
        default_handler_args=_attributes(Route(path="", handler=unknown), services),
        context=context,
        log_function=lambda handler: None,
    )
    for route in routes:
        _refuse_undeclared(route)
        made.table.add(route.path, (route.handler, {**_attributes(route, services), "route": route.path}))
    return made


class _RoutedApplication(Application):
    """An application with a table in the place of Tornado's list of patterns, which are tried one after the
    other.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.table: RouteTable[tuple[type[JsonHandler], dict[str, object]]] = RouteTable()

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        found = self.table.find(request.path)
        if found is None:
            return super().find_handler(request, **kwargs)
        (handler, attributes), segments = found
        given = [url_unescape(segment, encoding=None, plus=False) for segment in segments]
        return self.get_handler_delegate(request, handler, attributes, path_args=given)


def _attributes(route: Route, offered: Collection[object]) -> dict[str, object]:
    """Return the services of the route's handler by the attributes that they become."""
    found: dict[str, object] = {}
    for name, kind in route.needs().items():
        fitting = [service for service in offered if isinstance(service, kind)]
        if len(fitting) != 1:
            raise MissingServiceError(
                f"{route.handler.__name__}.{name} needs one {kind.__name__}, not {len(fitting)}"
            )
        found[name] = fitting[0]
    return found


def _of_account(path: str) -> bool:
    """Return whether the answers of a path hold tokens or passwords, and so must not be stored."""
    return path.startswith(OWN_ACCOUNT)


def _refuse_undeclared(route: Route) -> None:
    for name in METHODS:
        method = route.handler.__dict__.get(name.lower())
        if method is not None and operation_of(method) is None:
            raise UndeclaredError(f"{route.handler.__name__}.{name.lower()} does not declare who may call it")
    for name, operation in route.operations().items():
        if operation.repeat is not None and (name != "POST" or operation.public or _of_account(route.path)):
            raise UndeclaredError(f"{route.handler.__name__}.{name.lower()} can take no Idempotency-Key")
    if not route.operations():
        raise UndeclaredError(f"{route.handler.__name__} has no declared method")
