"""An installation, and an empty database beside another data folder with the same root key."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from netautod.store.client import Database
from netautod.store.embedded.life import HISTORY_PARAMETER, HISTORY_SECONDS
from tests.maintenance.archive.origin import Place, fill, place
from tests.support.databases import DatabasePool


@pytest.fixture(scope="module")
def client(mongo_uri: str) -> Iterator[MongoClient[Any]]:
    """Of a server that keeps its past for as long as others than ours do."""
    with MongoClient[Any](mongo_uri, tz_aware=True) as made:
        made.admin.command({"setParameter": 1, HISTORY_PARAMETER: 300})
        yield made
        made.admin.command({"setParameter": 1, HISTORY_PARAMETER: HISTORY_SECONDS})


@pytest.fixture(scope="module")
async def origin(
    mongo_uri: str,
    fresh_module_database: Database,
    client: MongoClient[Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Place:
    """One for all tests of a module: backups change nothing but the audit."""
    made = place(mongo_uri, fresh_module_database, tmp_path_factory.mktemp("origin"), client)
    await fill(made)
    return made


@pytest.fixture
async def target(
    origin: Place, mongo_uri: str, databases: DatabasePool, client: MongoClient[Any], tmp_path: Path
) -> AsyncIterator[Place]:
    database = databases.fresh()
    made = place(mongo_uri, database, tmp_path / "target", client)
    shutil.copy(origin.key_file, made.key_file)
    yield made
    await database.drop()
