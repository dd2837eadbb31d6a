"""Checks of what plugins add, when they register it: a wrong form, an unknown permission."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

from marshmallow import Schema

from netautod.core.identity.permissions import OWN_BEGINNINGS, PermissionKeys
from netautod.plugin_api import (
    ANY_TOKEN,
    PUBLIC,
    ContentType,
    EventType,
    PluginCommand,
    PluginPermission,
    PluginRoute,
)
from netautod.plugin_host.loading.failures import PluginError

PLUGIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
COMMAND = re.compile(r"[a-z][a-z0-9-]{0,31}")
CONTENT_TYPE = re.compile(r"[a-z][a-z0-9_.+-]{0,63}")
PATH = re.compile(r"(/(:[a-z][a-z0-9_]*|[A-Za-z0-9._-]+)){1,8}")
MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]+(; charset=utf-8)?")
LONGEST_SECONDS = 300.0


def refuse_plugin_name(plugin: str) -> None:
    """Raise PluginError for one that no path, permission or event could be named after."""
    if not PLUGIN_NAME.fullmatch(plugin):
        raise PluginError(f"nothing can be named after the plugin {plugin!r}")


def refuse_permission(plugin: str, permission: Any) -> None:
    _refuse(PluginPermission, permission, "a permission")
    refuse_plugin_name(plugin)
    if plugin in OWN_BEGINNINGS:
        raise PluginError(f"permissions that begin with {plugin}. are the service's own")
    _refuse_name("a permission", permission.name, NAME)
    _refuse_text(f"the permission {permission.name}", "description", permission.description)


def refuse_event(plugin: str, event: Any, keys: PermissionKeys) -> None:
    _refuse(EventType, event, "an event")
    refuse_plugin_name(plugin)
    _refuse_name("an event", event.name, NAME)
    what = f"the event {event.name}"
    _refuse_text(what, "description", event.description)
    if event.permission is not None:
        _refuse_key(what, event.permission, keys)
    _refuse_schemas(what, {"schema": event.schema}, needed=True)


def refuse_content_type(kind: Any) -> None:
    _refuse(ContentType, kind, "a content type")
    _refuse_name("a content type", kind.name, CONTENT_TYPE)
    _refuse_text(f"the content type {kind.name}", "description", kind.description)
    for name in ("check", "render"):
        function = getattr(kind, name)
        if function is not None and (not callable(function) or inspect.iscoroutinefunction(function)):
            raise PluginError(f"{name} of the content type {kind.name} is not a plain function")


def refuse_command(command: Any) -> None:
    _refuse(PluginCommand, command, "a command")
    _refuse_name("a command", command.name, COMMAND)
    what = f"the command {command.name}"
    _refuse_text(what, "help", command.help)
    if not inspect.iscoroutinefunction(command.run):
        raise PluginError(f"run of {what} is not an asynchronous function")
    if not callable(command.add_arguments):
        raise PluginError(f"add_arguments of {what} is not a function")


def refuse_route(route: Any, keys: PermissionKeys) -> None:
    _refuse(PluginRoute, route, "a route")
    if route.method not in ("GET", "POST", "PUT", "DELETE"):
        raise PluginError(f"the method of a route is GET, POST, PUT or DELETE, not {route.method!r}")
    if not isinstance(route.path, str) or not PATH.fullmatch(route.path):
        raise PluginError(f"the path of a route is like /reports/:id, not {route.path!r}")
    what = f"the route {route.method} {route.path}"
    names = re.findall(r":(\w+)", route.path)
    if len(set(names)) < len(names):
        raise PluginError(f"the path of {what} has two parameters of one name")
    if route.access not in (ANY_TOKEN, PUBLIC):
        _refuse_key(what, route.access, keys)
    if not inspect.iscoroutinefunction(inspect.unwrap(route.handler)) and not inspect.iscoroutinefunction(
        getattr(route.handler, "__call__", None)  # noqa: B004  # of an object, to see whether it is async
    ):
        raise PluginError(f"the handler of {what} is not an asynchronous function")
    _refuse_text(what, "summary", route.summary)
    _refuse_schemas(what, {"query": route.query, "body": route.body, "answer": route.answer})
    _refuse_answers(what, route)


def same_place(path: str) -> str:
    """Return a form that is equal for paths that no request can tell apart."""
    return re.sub(r":\w+", ":", path)


def _refuse_answers(what: str, route: PluginRoute) -> None:
    if route.body is not None and route.method in ("GET", "DELETE"):
        raise PluginError(f"{what} takes no body: it is a {route.method}")
    if not 200 <= route.status <= 299:
        raise PluginError(f"the status of {what} is one of a success, not {route.status!r}")
    if route.answer is not None and route.produces is not None:
        raise PluginError(f"{what} answers JSON or a text, not both")
    if (route.status == 204) == (route.answer is not None or route.produces is not None):
        raise PluginError(f"{what} says what it answers by `answer` or `produces`, or has the status 204")
    if route.produces is not None and not MEDIA_TYPE.fullmatch(route.produces):
        raise PluginError(f"{what} produces a media type, not {route.produces!r}")
    if not 0 < route.seconds <= LONGEST_SECONDS:
        raise PluginError(f"{what} has up to {LONGEST_SECONDS:g} seconds, not {route.seconds!r}")


def _refuse(kind: type[Any], thing: Any, wanted: str) -> None:
    if not isinstance(thing, kind):
        raise PluginError(f"{wanted} is registered as a {kind.__name__}, not {type(thing).__name__}")


def _refuse_name(wanted: str, name: Any, form: re.Pattern[str]) -> None:
    if not isinstance(name, str) or not form.fullmatch(name):
        raise PluginError(f"the name of {wanted} is of the form {form.pattern}, not {name!r}")


def _refuse_text(what: str, name: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise PluginError(f"{name} of {what} is a text")


def _refuse_key(what: str, key: Any, keys: PermissionKeys) -> None:
    if not isinstance(key, str) or "*" in key or not keys.is_known(key):
        raise PluginError(f"{what} names a permission that does not exist: {key!r}")


def _refuse_schemas(what: str, schemas: Mapping[str, Any], *, needed: bool = False) -> None:
    for name, schema in schemas.items():
        if schema is None and not needed:
            continue
        if not inspect.isclass(schema) or not issubclass(schema, Schema):
            raise PluginError(f"{name} of {what} is not a class of marshmallow schemas")
        try:
            schema()
        except Exception as failure:
            raise PluginError(f"{name} of {what} cannot be made: {failure}") from failure
