"""The synchronising parts of a service, served; one database for the tests of a module."""

from collections.abc import AsyncIterator

import pytest

from netautod.store.client import Database
from tests.inventory.sync.world import Installation, World, installed
from tests.support.serving import Serve


@pytest.fixture(scope="module")
async def installation(
    module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    async with installed(module_database, tmp_path_factory.mktemp("inventory")) as made:
        yield made


@pytest.fixture
async def world(installation: Installation, serve: Serve) -> World:
    return await installation.world(serve)
