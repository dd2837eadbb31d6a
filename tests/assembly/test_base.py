"""The Base of a command, which works beside the nodes."""

from dataclasses import dataclass
from pathlib import Path

from netautod.assembly.base import open_command_base
from netautod.automation.system.models import Pause
from netautod.http.routing.services import Services
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from tests.support.installation import open_installation


async def test_a_command_works_whichever_organizations_are_paused(indexed: Database, tmp_path: Path) -> None:
    installation = await (await open_installation(indexed, tmp_path, clock=ServerClock(indexed))).started(
        tmp_path
    )
    org_id = await installation.organizations.default_id()
    pause = Pause(reason="maintenance", by="admin", at=installation.clock.now())
    await installation.stores.system.put_pause(org_id, pause)
    async with open_command_base(installation, PluginManager(LoadedPlugins.of({}))) as base:
        assert base.pauses.paused() == frozenset()
        assert base.settings is installation.settings
        assert base.leases._keeper.settled is not None, "it follows no jump of the database's clock"
        async with base.leases.hold("work of a command", wait_seconds=1):
            assert await indexed.collection("leases").count({"owner": base.node_id}) == 1


def test_every_field_of_a_group_is_offered() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Group(Services):
        name: str
        number: int

    assert Group(name="one", number=2).services == ("one", 2)
