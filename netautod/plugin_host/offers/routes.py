"""Serves the routes of plugins: a handler for each path, which the rules of our own routes hold for.

A handler of a plugin gets what its schemas have loaded, and has a deadline. What it raises, and what it
answers against its own description, is a 500 whose line in the log names the plugin.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from marshmallow import Schema

from netautod.core.errors import NetautodError, Unavailable
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.schema.bases import Answer, Query, Request
from netautod.core.text.printable import printable
from netautod.core.work.plugin_calls import no_exit
from netautod.http.access import any_token, public, requires
from netautod.http.errors import status_of
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.plugin_api import ANY_TOKEN, PUBLIC, PluginRoute, RequestCaller, RouteRequest, UserServices
from netautod.plugin_host.offers.offers import OfferedRoute
from netautod.plugin_host.registering.validation import same_place

logger = logging.getLogger(__name__)
ERRORS = (403, 404, 409, 502)  # a handler may raise any of the public errors, also through `acting`
GRACE_SECONDS = 1.0  # for a handler to end once it is cancelled


class WrongAnswer(Exception):
    """A handler of a plugin has answered what its route does not declare."""


@dataclass(frozen=True)
class PluginCalls:
    """The services that the handlers share: `acting` makes them in the name of a caller."""

    acting: Callable[[Caller], UserServices]


class PluginHandler(JsonHandler):
    """A handler of one path of a plugin; its methods are made from the routes that the plugin has
    registered.
    """

    calls: PluginCalls
    plugin = ""  # without annotation: it is no service

    async def serve(self, route: PluginRoute, segments: tuple[str, ...]) -> None:
        caller = getattr(self, "caller", None)
        request = RouteRequest(
            caller=None if caller is None else _shown(caller),
            path=self._parameters(route, segments),
            query=self.query if route.query is not None else {},
            body=self.body if route.body is not None else {},
            request_id=self.request_id,
            acting=self.calls.acting(caller or _ANONYMOUS),
        )
        value = await self._bounded(route, request)
        if route.status == 204:
            if value is not None:
                raise WrongAnswer(f"it answers a {type(value).__name__} and declares that it answers nothing")
            self.answer_nothing()
        elif route.produces is not None:
            if not isinstance(value, str):
                raise WrongAnswer(f"it answers a {type(value).__name__} and declares a text")
            self.set_status(route.status)
            self.set_header("Content-Type", route.produces)
            self.write(value)
        else:
            self.answer(value if route.answer is None else _dumped(route.answer, value))

    def _parameters(self, route: PluginRoute, segments: tuple[str, ...]) -> dict[str, str]:
        """Return the parameters by name; NotFound where an id is none."""
        names = [part[1:] for part in route.path.split("/") if part.startswith(":")]
        given = dict(zip(names, segments, strict=True))
        ids = {name: self.path_id(text, "Resource") for name, text in given.items() if is_id(name)}
        return {**given, **ids}

    async def _bounded(self, route: PluginRoute, request: RouteRequest) -> Any:
        """Return what the handler returns within its time. One that ignores its cancellation is left
        behind.
        """
        work = asyncio.ensure_future(_called(route, request))
        try:
            done, _ = await asyncio.wait({work}, timeout=route.seconds)
        except asyncio.CancelledError:
            work.cancel()
            raise
        if done:
            return work.result()
        work.cancel()
        await asyncio.wait({work}, timeout=GRACE_SECONDS)
        left = "" if work.done() else ", ignores its cancellation and is left behind"
        text = "plugin %s did not answer %s %s in %g s%s"
        logger.error(text, self.plugin, route.method, self.route, route.seconds, left)
        raise Unavailable(f"The plugin {self.plugin} did not answer in {route.seconds:g} s")

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        if value is not None and not (isinstance(value, NetautodError) and status_of(value) != 500):
            kind, text = type(value).__name__, printable(str(value)[:300])
            logger.error("plugin %s failed in %s: %s: %s", self.plugin, self.route, kind, text)
        super().log_exception(typ, value, tb)


def is_id(name: str) -> bool:
    """Return whether a parameter of this name is a UUID."""
    return name == "id" or name.endswith("_id")


def served(offered: Iterable[OfferedRoute]) -> list[Route]:
    """Return one route for each path, in their order."""
    paths: dict[str, list[OfferedRoute]] = {}
    for one in offered:
        paths.setdefault(same_place(one.path), []).append(one)
    return [_route(ones) for ones in paths.values()]


def _route(offered: list[OfferedRoute]) -> Route:
    plugin, path = offered[0].plugin, offered[0].path
    methods = {one.route.method.lower(): _method(one.route) for one in offered}
    handler = type("HandlerOfPlugin", (PluginHandler,), {"plugin": plugin, **methods})
    return Route(path=path, handler=handler)


def _method(route: PluginRoute) -> Any:
    async def serve(self: PluginHandler, *segments: str) -> None:
        await self.serve(route, segments)

    serve.__doc__ = route.summary
    described: dict[str, Any] = {
        "status": route.status,
        "partial": route.partial,
        "produces": route.produces,
        "errors": ERRORS,
        "changes": route.changes,
    }
    if route.query is not None:
        described["query"] = _with_rules(route.query, Query)
    if route.body is not None:
        described["body"] = _with_rules(route.body, Request)
    if route.answer is not None:
        described["answer"] = _with_rules(route.answer, Answer)
    if route.access == PUBLIC:
        return public(**described)(serve)
    if route.access == ANY_TOKEN:
        return any_token(**described)(serve)
    return requires(route.access, **described)(serve)


@cache
def _with_rules(schema: type[Schema], rules: type[Schema]) -> type[Any]:
    """Return the schema of a plugin with what holds for ours: which unknown fields and nulls are taken."""
    if issubclass(schema, rules):
        return schema
    known = {"__module__": schema.__module__, "__doc__": schema.__doc__}
    return type(schema.__name__, (schema, rules), known)


async def _called(route: PluginRoute, request: RouteRequest) -> Any:
    with no_exit():
        return await route.handler(request)


def _dumped(schema: type[Schema], value: Any) -> Any:
    made = schema()
    try:
        dumped = made.dump(value)
    except (ValueError, TypeError, AttributeError) as error:
        raise WrongAnswer(f"the answer is not what its schema says: {error}") from error
    if missing := next(_missing(made, dumped), None):
        raise WrongAnswer(f"the answer lacks {missing}")
    return dumped


def _missing(schema: Schema, dumped: Any, within: str = "") -> Iterator[str]:
    """Yield the missing fields: an answer always has all of its fields."""
    for one in dumped if schema.many else [dumped]:
        for name, field in schema.dump_fields.items():
            key = field.data_key or name
            if key not in one:
                yield within + key
                continue
            inner = getattr(getattr(field, "inner", field), "schema", None)
            if isinstance(inner, Schema) and one[key] is not None:
                for part in one[key] if isinstance(one[key], list) else [one[key]]:
                    yield from _missing(inner, [part] if inner.many else part, f"{within}{key}.")


def _shown(caller: Caller) -> RequestCaller:
    return RequestCaller(
        user_id=caller.user_id,
        username=caller.username,
        org_id=caller.org_id,
        permissions=caller.permissions,
    )


_ANONYMOUS = Caller(user_id="", org_id=OrgId(""), username="", permissions=frozenset())
