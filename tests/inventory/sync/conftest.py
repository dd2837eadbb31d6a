"""The synchronising parts of a service, served; one database for the tests of a module."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from netautod.store.client import connect
from tests.inventory.sync.world import Installation, World, installed
from tests.support.serving import Serve


@pytest.fixture(scope="module")
async def installation(
    mongo_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    database = connect(mongo_uri, f"t{uuid4().hex[:20]}")
    async with installed(database, tmp_path_factory.mktemp("inventory")) as made:
        yield made
    await database.drop()
    database.close()


@pytest.fixture
async def world(installation: Installation, serve: Serve) -> World:
    return await installation.world(serve)
