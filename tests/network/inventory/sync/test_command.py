"""`netautod sync`: the results of the API, straight on the configured database."""

import argparse
import asyncio
import json
import os
import termios
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from netautod.assembly.configuration import Configuration
from netautod.cli.data import sync as sync_command
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput, NotFound, UpstreamFailed
from netautod.identity.users.models import Organization
from netautod.identity.users.organizations.store import OrganizationStore
from netautod.plugin_api import RemoteProblem
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.settings import MongoDBSettings
from tests.network.inventory.sync.fake_inventory import machine
from tests.network.inventory.sync.world import SOURCES, World
from tests.support.programs.service import run

Command = Callable[..., Awaitable[int]]


@pytest.fixture
async def command(world: World, mongo_uri: str) -> Command:
    """`code = await command("netbox", "--flag")`, for the organization of the test."""
    name = f"org {world.org_id}"
    made = Organization(
        id=world.org_id, name=name, ready=True, created_at=world.node.installation.clock.now()
    )
    await OrganizationStore(world.database).insert(made)
    plugins = {"fake": world.remote}
    settings = replace(world.settings, mongodb=MongoDBSettings(uri=mongo_uri, database=world.database.name))

    async def call(*arguments: str, organization: str | None = name) -> int:
        configuration = Configuration(settings=settings, plugins=LoadedPlugins.of(plugins))
        parser = argparse.ArgumentParser()
        sync_command.add(Commands(parser))
        words = ["sync", *arguments, *(["--organization", organization] if organization else [])]
        # A loop of its own, as on the command line.
        return await asyncio.to_thread(sync_command.run, parser.parse_args(words), configuration)

    return call


async def test_a_source_is_synchronised_by_name_or_id(
    world: World, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await world.source()
    assert await command("netbox", "--dry-run") == 0
    assert capsys.readouterr().out == "would be: added 2, updated 0, unchanged 0, failed 0, removed 0\n"
    assert await world.names() == []
    assert await command("netbox") == 0
    captured = capsys.readouterr()
    assert captured.out == "added 2, updated 0, unchanged 0, failed 0, removed 0\n"
    assert "devices" not in captured.err  # no bar where nobody watches
    assert await command(source["id"].upper(), "--json") == 0
    assert json.loads(capsys.readouterr().out)["unchanged"] == 2
    assert [entry["triggered_by"] for entry in await world.history()] == ["manual", "manual"]
    assert (await world.api.get(f"{SOURCES}/{source['id']}")).json["last_sync_status"] == "success"


async def test_errors_are_listed_and_the_exit_code_tells(
    world: World, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    await world.source()
    world.remote.has(*(machine(number, f"sw{number}") for number in range(1, 13)))
    world.remote.problems = [
        RemoteProblem(external_id=f"p{number}", inventory_id=number, name=None, error="it has no name")
        for number in range(22)
    ]
    assert await command("netbox") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "added 12, updated 0, unchanged 0, failed 22, removed 0"
    assert (lines[1], lines[-1], len(lines)) == ("0: it has no name", "and 2 more", 22)
    world.remote.has()
    world.remote.problems = []
    assert await command("netbox") == 1
    assert "confirm_removals" in capsys.readouterr().out
    assert await command("netbox", "--confirm-removals") == 0
    assert capsys.readouterr().out.endswith("removed 12\n")


async def test_what_was_adopted_stays_and_what_was_brought_goes(
    world: World, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = await world.device(name="mine", host="192.0.2.1")
    await world.source()
    world.remote.has(machine(1, "mine"), machine(2, "theirs"))
    assert await command("netbox") == 0
    world.remote.has()
    for flags, text in ((["--dry-run"], "would be: added 0"), ([], "added 0")):
        capsys.readouterr()
        assert await command("netbox", "--confirm-removals", *flags) == 0
        assert capsys.readouterr().out == f"{text}, updated 0, unchanged 0, failed 0, removed 1\n"
    assert [device.id for device in (await world.node.all()).values()] == [mine["id"]]


async def test_what_cannot_be_done_is_an_error(world: World, command: Command) -> None:
    with pytest.raises(NotFound, match="Inventory source not found"):
        await command("netbox")
    await world.source()
    world.remote.known = False
    with pytest.raises(UpstreamFailed, match="no inventory system"):
        await command("netbox")
    with pytest.raises(NotFound):
        await command("netbox", organization="nobody's")
    # That of the test and `default`.
    with pytest.raises(InvalidInput, match="name one with --organization"):
        await command("netbox", organization=None)


async def test_on_a_terminal_there_is_a_bar(
    world: World, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.source()
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        assert await command("netbox") == 0
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert "reading: " in drawn
    assert "devices" in drawn


async def test_the_command_tells_what_it_takes() -> None:
    done = await run("sync", "--help")
    assert done.code == 0
    for word in ("SOURCE", "--dry-run", "--confirm-removals", "--organization"):
        assert word in done.out
