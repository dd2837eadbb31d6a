"""Shared fixtures: one real mongod per run, a fresh database per test, and served routes."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
import pytest_asyncio

from netautod.store.client import Database
from netautod.store.embedded.mongod import EmbeddedMongo
from netautod.store.indexes import Index
from tests.support.databases import DatabasePool, Indexed
from tests.support.programs.sshd import Sshd, running_sshd
from tests.support.serving import Serve, Servers


@pytest.fixture(scope="session")
async def mongo_uri(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """One mongod for the whole run."""
    async with EmbeddedMongo(tmp_path_factory.mktemp("mongo")) as mongo:
        yield mongo.uri


@pytest.fixture(scope="session")
async def databases(mongo_uri: str) -> AsyncIterator[DatabasePool]:
    pool = DatabasePool(mongo_uri)
    yield pool
    pool.close()


@pytest.fixture
async def database(databases: DatabasePool) -> AsyncIterator[Database]:
    """An empty database of its own."""
    made = databases.fresh()
    yield made
    if not databases.is_pooled(made):
        await made.drop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sshd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sshd]:
    """OpenSSH's server, for the tests that are skipped where it is missing."""
    async with running_sshd(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with Servers() as made:
        yield made


@pytest.fixture
def serve(servers: Servers) -> Serve:
    """`served = await serve(devices, sites)`: the routes that these services are enough for."""
    return servers.serve


@pytest.fixture
def indexed(database: Database, databases: DatabasePool) -> Indexed:
    """`database = await indexed(INDEXES)`: the empty database with a resource's indexes."""

    async def create(indexes: Iterable[Index]) -> Database:
        await databases.become_indexed(database, indexes)
        return database

    return create


@pytest.fixture
def repository_root() -> Path:
    return Path(__file__).parent.parent
