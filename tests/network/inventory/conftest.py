"""The synchronising parts of a service, served; one database for the tests of a module."""

from collections.abc import AsyncIterator

import pytest

from netautod.store.client import Database
from tests.network.inventory.sync.world import MakeWorld, World, worlds
from tests.support.serving import Serve


@pytest.fixture(scope="module")
async def make_world(
    module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[MakeWorld]:
    async with worlds(module_database, tmp_path_factory.mktemp("inventory")) as made:
        yield made


@pytest.fixture
async def world(make_world: MakeWorld, serve: Serve) -> World:
    return await make_world(serve)
