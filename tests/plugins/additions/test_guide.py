"""The examples of the guide about what plugins add: each is a plugin, and does what is said of it."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.permissions import PermissionKeys
from netautod.documents.content_types import ContentTypes
from netautod.http.description.openapi import document
from netautod.plugin_api import DeviceInfo, RouteRequest, UserServices
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers import offers
from netautod.plugin_host.offers.routes import served
from netautod.testing import RunDevice
from tests.plugins.test_hook_sections import plugin_of


def manager_of(hook: str) -> PluginManager:
    """Return a manager of the one plugin that the section of the hook shows."""
    manager = PluginManager(LoadedPlugins.of({"rota": plugin_of(hook, Path())}))
    assert manager.statuses[0].ok
    return manager


class Devices:
    """The services, as far as the examples use them."""

    async def devices(self, **_: Any) -> AsyncIterator[DeviceInfo]:
        for name in ("a", "b"):
            yield RunDevice(name=name, site="Berlin").info


def test_permissions_and_events() -> None:
    permissions = offers.permissions_of(manager_of("netautod_register_permissions"))
    assert {key: one.description for key, one in permissions.items()} == {"rota.read": "Read the rota."}
    events = offers.events_of(manager_of("netautod_register_events"), PermissionKeys())
    kind = events["rota.shift_began"]
    assert kind.schema().validate({"team": "core", "name": "Ada"}) == {}


async def test_content_types() -> None:
    types = ContentTypes(offers.content_types_of(manager_of("netautod_register_content_types")))
    await types.check("toml", "a = 1")
    with pytest.raises(InvalidInput, match="content: Not valid toml: Invalid value"):
        await types.check("toml", "a = ")


async def test_routes() -> None:
    [offered] = offers.routes_of(manager_of("netautod_register_routes"), PermissionKeys())
    services: Any = Devices()

    def request(team: str) -> RouteRequest:
        path = {"team": team}
        return RouteRequest(caller=None, path=path, query={}, body={}, request_id="r", acting=services)

    assert await offered.route.handler(request("core")) == {"name": "Ada", "devices": 2}
    with pytest.raises(NotFound):
        await offered.route.handler(request("sales"))
    described = document(served([offered]), {})["paths"]["/api/plugins/rota/teams/{team}"]["get"]
    assert described["summary"] == "Return who of a team is on call."


async def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    offered = offers.commands_of(manager_of("netautod_register_commands"), ())["sites-used"]
    parser = argparse.ArgumentParser()
    offered.command.add_arguments(parser)

    class Context:
        arguments = parser.parse_args(["--organization", "default"])

        def say(self, text: str = "") -> None:
            print(text)  # noqa: T201

        @asynccontextmanager
        async def acting(self, organization: str | None = None) -> AsyncIterator[UserServices]:
            services: Any = Devices()
            assert organization == "default"
            yield services

    context: Any = Context()
    assert await offered.command.run(context) == 0
    assert capsys.readouterr().out == "Berlin\n"
