"""What plugins add, when they register it: what is refused, who keeps a name, and which events are told."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from marshmallow import Schema, fields

from netautod.core.errors import Unavailable
from netautod.core.identity.permissions import PermissionKeys
from netautod.plugin_api import (
    PUBLIC,
    ContentType,
    EventType,
    PluginCommand,
    PluginPermission,
    PluginRoute,
    hookimpl,
)
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers import offers
from netautod.plugin_host.registering.events import PluginEvents


class Shape(Schema):
    name = fields.String(required=True)


class Unmakable(Schema):
    class Meta:
        fields = ("missing",)
        additional = ("more",)


async def answer(request: Any) -> Any:
    return {"name": "a"}


def plain(request: Any) -> Any:
    return {"name": "a"}


async def run(context: Any) -> int:
    return 0


ROUTE = PluginRoute(
    method="GET", path="/a/:id", access=PUBLIC, handler=answer, summary="Shows it.", answer=Shape
)
COMMAND = PluginCommand(name="lab-do", help="does it", run=run)
EVENT = EventType(name="made", description="It was made.", permission=None, schema=Shape)
KIND = ContentType(name="lab", description="Labs.")
PERMISSION = PluginPermission(name="read", description="Reads.")


class Plugin:
    """Registers what it is given by one hook."""

    def __init__(self, *things: Any) -> None:
        self.things = things

    def of(self, kind: type) -> list[Any]:
        return [one for one in self.things if isinstance(one, kind) or not isinstance(one, KINDS)]

    @hookimpl
    def netautod_register_permissions(self, register: Callable[[Any], None]) -> None:
        for one in self.of(PluginPermission):
            register(one)

    @hookimpl
    def netautod_register_events(self, register: Callable[[Any], None]) -> None:
        for one in self.of(EventType):
            register(one)

    @hookimpl
    def netautod_register_content_types(self, register: Callable[[Any], None]) -> None:
        for one in self.of(ContentType):
            register(one)

    @hookimpl
    def netautod_register_routes(self, register: Callable[[Any], None], host: Any) -> None:
        for one in self.of(PluginRoute):
            register(one)

    @hookimpl
    def netautod_register_commands(self, register: Callable[[Any], None], host: Any) -> None:
        for one in self.of(PluginCommand):
            register(one)


KINDS = (PluginPermission, EventType, ContentType, PluginRoute, PluginCommand)


def collected(plugins: Mapping[str, object]) -> tuple[PluginManager, Mapping[str, Any]]:
    manager, keys = PluginManager(LoadedPlugins.of(plugins)), PermissionKeys()
    permissions = offers.permissions_of(manager)
    keys.add({key: one.description for key, one in permissions.items()})
    return manager, {
        "permissions": permissions,
        "events": offers.events_of(manager, keys),
        "kinds": offers.content_types_of(manager),
        "routes": offers.routes_of(manager, keys),
        "commands": offers.commands_of(manager, {"serve", "user"}),
    }


def test_everything_is_collected_under_its_name() -> None:
    wanted = replace(ROUTE, method="POST", access="lab.read")
    manager, found = collected({"lab": Plugin(PERMISSION, EVENT, KIND, ROUTE, wanted, COMMAND)})
    assert {name: list(one) for name, one in found.items() if name != "routes"} == {
        "permissions": ["lab.read"],
        "events": ["lab.made"],
        "kinds": ["lab"],
        "commands": ["lab-do"],
    }
    assert [(one.plugin, one.path, one.route) for one in found["routes"]] == [
        ("lab", "/api/plugins/lab/a/:id", ROUTE),
        ("lab", "/api/plugins/lab/a/:id", wanted),
    ]
    assert [status.error for status in manager.statuses] == [None]


def wrong(thing: Any, **changes: Any) -> Any:
    return replace(thing, **changes)


WRONG = [
    (wrong(ROUTE, method="PATCH"), "the method of a route is GET, POST, PUT or DELETE, not 'PATCH'"),
    (wrong(ROUTE, path="a"), "the path of a route is like /reports/:id, not 'a'"),
    (wrong(ROUTE, path="/a/../b c"), "the path of a route is like"),
    (wrong(ROUTE, path="/a//b"), "the path of a route is like"),
    (wrong(ROUTE, path="/a/"), "the path of a route is like"),
    (wrong(ROUTE, path="/:id/:id"), "has two parameters of one name"),
    (wrong(ROUTE, access=None), "names a permission that does not exist: None"),
    (wrong(ROUTE, access=""), "names a permission that does not exist: ''"),
    (wrong(ROUTE, access="lab.write"), "names a permission that does not exist: 'lab.write'"),
    (wrong(ROUTE, access="*"), "names a permission that does not exist: '*'"),
    (wrong(ROUTE, access="devices.*"), "names a permission that does not exist: 'devices.*'"),
    (wrong(ROUTE, handler=plain), "the handler of the route GET /a/:id is not an asynchronous function"),
    (wrong(ROUTE, summary=" "), "summary of the route GET /a/:id is a text"),
    (wrong(ROUTE, answer=dict), "answer of the route GET /a/:id is not a class of marshmallow schemas"),
    (wrong(ROUTE, query=Unmakable), "query of the route GET /a/:id cannot be made"),
    (wrong(ROUTE, body=Shape), "takes no body: it is a GET"),
    (wrong(ROUTE, status=404), "the status of the route GET /a/:id is one of a success, not 404"),
    (wrong(ROUTE, produces="text/csv"), "answers JSON or a text, not both"),
    (wrong(ROUTE, answer=None), "says what it answers by `answer` or `produces`, or has the status 204"),
    (wrong(ROUTE, status=204), "says what it answers by `answer` or `produces`, or has the status 204"),
    (wrong(ROUTE, answer=None, produces="csv\r\nX: y"), "produces a media type, not"),
    (wrong(ROUTE, seconds=0), "has up to 300 seconds, not 0"),
    (wrong(COMMAND, name="Lab Do"), "the name of a command is of the form"),
    (wrong(COMMAND, name="user"), "netautod user is a command of the service itself"),
    (wrong(COMMAND, run=plain), "run of the command lab-do is not an asynchronous function"),
    (wrong(COMMAND, help=""), "help of the command lab-do is a text"),
    (wrong(EVENT, name="Made!"), "the name of an event is of the form"),
    (wrong(EVENT, permission="lab.no"), "names a permission that does not exist: 'lab.no'"),
    (wrong(EVENT, schema=None), "schema of the event made is not a class of marshmallow schemas"),
    (wrong(KIND, name="json"), "the content type json is the service's own"),
    (wrong(KIND, name="a b"), "the name of a content type is of the form"),
    (wrong(KIND, check=run), "check of the content type lab is not a plain function"),
    (wrong(PERMISSION, name="read.all"), "the name of a permission is of the form"),
    (wrong(PERMISSION, description=""), "description of the permission read is a text"),
    ("nonsense", "is registered as a"),
]


@pytest.mark.parametrize(("thing", "said"), [pytest.param(*one, id=one[1][:60]) for one in WRONG])
def test_what_could_not_work_is_refused_and_the_rest_of_the_hook_with_it(thing: Any, said: str) -> None:
    other = {"zed": Plugin(replace(ROUTE, path="/z"), replace(COMMAND, name="z"))}
    manager, found = collected({"lab": Plugin(PERMISSION, thing), **other})
    errors = {status.name: status.error or "" for status in manager.statuses}
    assert said in errors["lab"]
    assert errors["zed"] == ""
    assert [one.path for one in found["routes"]] == ["/api/plugins/zed/z"]
    assert list(found["commands"]) == ["z"]


@pytest.mark.parametrize("name", ["devices", "sessions", "agents", "users"])
def test_a_plugin_cannot_bring_permissions_that_look_like_ours(name: str) -> None:
    manager, found = collected({name: Plugin(PERMISSION)})
    assert found["permissions"] == {}
    assert f"permissions that begin with {name}. are the service's own" in (manager.statuses[0].error or "")


def test_a_name_belongs_to_the_first_who_registers_it() -> None:
    manager, found = collected({"a": Plugin(KIND, COMMAND), "b": Plugin(KIND, COMMAND)})
    assert (found["commands"]["lab-do"].plugin, list(found["kinds"])) == ("a", ["lab"])
    first, second = manager.statuses
    assert first.error is None
    assert "another plugin already registers the content type lab: the plugin a" in (second.error or "") or (
        "another plugin already registers the command lab-do: the plugin a" in (second.error or "")
    )


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (ROUTE, ROUTE, "the plugin registers GET /api/plugins/lab/a/: twice"),
        (ROUTE, replace(ROUTE, method="POST", path="/a/:name"), "are the same path"),
    ],
)
def test_two_routes_that_no_request_can_tell_apart(first: Any, second: Any, said: str) -> None:
    manager, found = collected({"lab": Plugin(first, second)})
    assert found["routes"] == []
    assert said in (manager.statuses[0].error or "")


def test_paths_of_plugins_cannot_meet() -> None:
    manager, found = collected({"a": Plugin(ROUTE), "b": Plugin(ROUTE), "a b": Plugin(ROUTE)})
    assert [one.path for one in found["routes"]] == ["/api/plugins/a/a/:id", "/api/plugins/b/a/:id"]
    errors = {status.name: status.error or "" for status in manager.statuses}
    assert "nothing can be named after the plugin 'a b'" in errors["a b"]


class Kept:
    """A publisher that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def publish(self, **event: Any) -> None:
        self.told.append(event)


async def test_an_event_is_told_with_the_permission_that_it_needs() -> None:
    events, kept = PluginEvents(), Kept()
    with pytest.raises(Unavailable, match="running service only"):
        await events.publish("lab", "made", {"name": "a"}, org_id="o")
    events.types = {"lab.made": replace(EVENT, permission="lab.read")}
    events.publish_to(kept, kept)
    await events.publish("lab", "made", {"name": "a"}, org_id="o")
    told = {"org_id": "o", "name": "lab.made", "data": {"name": "a"}, "permission": "lab.read"}
    assert kept.told == [told, told]


@pytest.mark.parametrize(
    ("plugin", "name", "data", "said"),
    [
        ("lab", "gone", {"name": "a"}, "the plugin lab has registered no event gone"),
        ("other", "made", {"name": "a"}, "the plugin other has registered no event made"),
        ("lab", "made", {}, "the event lab.made: name: Missing data"),
        ("lab", "made", {"name": "a", "more": 1}, "the event lab.made: more: Unknown field"),
        ("lab", "made", {"name": "a" * 70_000}, "the event lab.made: larger than 64 KiB as JSON"),
    ],
)
async def test_an_event_that_is_not_as_declared_is_told_to_nobody(
    plugin: str, name: str, data: Any, said: str
) -> None:
    events, kept = PluginEvents(), Kept()
    events.types = {"lab.made": EVENT}
    events.publish_to(kept)
    with pytest.raises(ValueError, match=said):
        await events.publish(plugin, name, data, org_id="o")
    assert kept.told == []
