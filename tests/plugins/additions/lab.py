"""A plugin of the tests: it adds one of everything, and its handlers do what handlers may do."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import Schema, fields, validate

from netautod.plugin_api import (
    ANY_TOKEN,
    PUBLIC,
    Conflict,
    ContentType,
    DeviceFailed,
    EventType,
    Forbidden,
    InvalidInput,
    NotFound,
    PluginHost,
    PluginPermission,
    PluginRoute,
    RouteRequest,
    Unavailable,
    hookimpl,
)

REFUSALS: Mapping[str, Exception] = {
    "invalid": InvalidInput("size: It does not fit"),
    "forbidden": Forbidden("Not on Sundays"),
    "missing": NotFound("Thing not found"),
    "conflict": Conflict("Another thing is in the way"),
    "device": DeviceFailed("no answer", kind="timeout"),
    "unavailable": Unavailable("Come back later"),
}
released: list[str] = []  # what was cancelled, and went on for a while


class Size(Schema):
    unit = fields.String(required=True)


class ThingBody(Schema):
    name = fields.String(required=True, validate=validate.Length(max=20))
    size = fields.Nested(Size)


class ThingsQuery(Schema):
    color = fields.String(load_default="red", validate=validate.OneOf(["red", "blue"]))


class Thing(Schema):
    name = fields.String()
    by = fields.String(allow_none=True)
    seen = fields.Dict()


class Name(Schema):
    class Meta:
        many = True

    name = fields.String()


class Echo(Schema):
    name = fields.String(required=True)


def _thing(request: RouteRequest, name: str, **seen: Any) -> dict[str, Any]:
    caller = request.caller
    return {"name": name, "by": None if caller is None else caller.username, "seen": seen}


async def read(request: RouteRequest) -> Any:
    caller = request.caller
    assert caller is not None
    may = [key for key in ("lab.read", "lab.write") if caller.can(key)]
    return _thing(request, "all", color=request.query["color"], may=may, request_id=request.request_id)


async def write(request: RouteRequest) -> Any:
    return _thing(request, request.body["name"], body=request.body)


async def one(request: RouteRequest) -> Any:
    return _thing(request, request.path["name"])


async def by_id(request: RouteRequest) -> Any:
    return _thing(request, request.path["id"])


async def nothing(request: RouteRequest) -> None:
    return None


async def devices(request: RouteRequest) -> Any:
    return [{"name": device.name} async for device in request.acting.devices()]


async def refuse(request: RouteRequest) -> Any:
    raise REFUSALS[request.path["kind"]]


async def broken(request: RouteRequest) -> Any:
    raise ValueError("canary-of-a-handler")


async def leaving(request: RouteRequest) -> Any:
    raise SystemExit(3)


async def hanging(request: RouteRequest) -> Any:
    await asyncio.Event().wait()


async def stubborn(request: RouteRequest) -> Any:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.sleep(1.2)
        released.append("stubborn")


async def lying(request: RouteRequest) -> Any:
    return {"name": "half"}


async def text(request: RouteRequest) -> Any:
    return "a,b\r\n"


def check(content: str) -> None:
    if content == "hang":
        time.sleep(3)
    if content == "fail":
        raise RuntimeError("canary-of-a-check")
    if not content.startswith("lab"):
        raise ValueError("it does not begin with lab")


def render(content: str, variables: Mapping[str, Any]) -> str:
    if content == "lab breaks":
        raise RuntimeError("canary-of-a-renderer")
    if content == "lab refuses":
        raise ValueError("there is nothing to see")
    return f"{content} {variables.get('name', '')}"


def _route(method: Any, path: str, access: str, handler: Any, **more: Any) -> PluginRoute:
    return PluginRoute(
        method=method, path=path, access=access, handler=handler, summary="Does what its name says.", **more
    )


@hookimpl
def netautod_register_permissions(register: Callable[[PluginPermission], None]) -> None:
    register(PluginPermission(name="read", description="Look at things."))
    register(PluginPermission(name="write", description="Make things."))


@hookimpl
def netautod_register_events(register: Callable[[EventType], None]) -> None:
    register(EventType(name="made", description="A thing was made.", permission="lab.read", schema=Echo))


@hookimpl
def netautod_register_content_types(register: Callable[[ContentType], None]) -> None:
    register(ContentType(name="lab", description="Begins with lab.", check=check, render=render))
    register(ContentType(name="plain", description="Anything."))


@hookimpl
def netautod_register_routes(register: Callable[[PluginRoute], None], host: PluginHost[Any]) -> None:
    async def echo(request: RouteRequest) -> Any:
        assert request.caller is not None
        await host.publish("made", request.body, org_id=request.caller.org_id)
        return None

    register(_route("GET", "/things", "lab.read", read, query=ThingsQuery, answer=Thing))
    register(_route("POST", "/things", "lab.write", write, body=ThingBody, answer=Thing, status=201))
    register(_route("GET", "/things/:name", ANY_TOKEN, one, answer=Thing))
    register(_route("PUT", "/things/:name", "lab.write", write, body=ThingBody, partial=True, answer=Thing))
    register(_route("DELETE", "/things/:name", "lab.write", nothing, status=204))
    register(_route("GET", "/records/:id", ANY_TOKEN, by_id, answer=Thing))
    register(_route("GET", "/open", PUBLIC, one_open, answer=Thing))
    register(_route("GET", "/open/devices", PUBLIC, devices, answer=Name))
    register(_route("GET", "/devices", "lab.read", devices, answer=Name))
    register(_route("POST", "/refusals/:kind", ANY_TOKEN, refuse, status=204, changes=False))
    register(_route("GET", "/broken", ANY_TOKEN, broken, answer=Thing))
    register(_route("GET", "/leaving", ANY_TOKEN, leaving, answer=Thing))
    register(_route("GET", "/hanging", ANY_TOKEN, hanging, answer=Thing, seconds=0.05))
    register(_route("GET", "/stubborn", ANY_TOKEN, stubborn, answer=Thing, seconds=0.05))
    register(_route("GET", "/lying", ANY_TOKEN, lying, answer=Thing))
    register(_route("GET", "/text", ANY_TOKEN, text, produces="text/csv"))
    register(_route("GET", "/text/lying", ANY_TOKEN, nothing, produces="text/csv"))
    register(_route("POST", "/told", ANY_TOKEN, echo, body=Echo, status=204))


async def one_open(request: RouteRequest) -> Any:
    return _thing(request, "open")
