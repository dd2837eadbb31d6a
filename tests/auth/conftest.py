"""An installation after its first start, and nodes of it."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from netautod.audit import store as audit
from netautod.auth.lockout import store as failure_counters
from netautod.auth.sessions import store as auth_store
from netautod.auth.tokens import store as api_token_store
from netautod.store.client import Database, connect
from netautod.store.indexes import create_indexes
from netautod.users import store as user_store
from netautod.users.organizations import store as organization_store
from netautod.users.passwords import PasswordHasher
from netautod.vault.vault import Vault
from tests.auth.support import Node, NodeStarter, serve_node, start_node
from tests.support.client import ApiClient
from tests.support.serving import Servers
from tests.users.support import PASSWORD, Installation, MovableClock, install

MODULES = (audit, api_token_store, failure_counters, auth_store, organization_store, user_store)


async def prepared(
    database: Database, hasher: PasswordHasher, clock: MovableClock, folder: Path
) -> Installation:
    """With the organization default and its admin, whose password is PASSWORD."""
    await create_indexes(database, [index for module in MODULES for index in module.INDEXES])
    made = install(database, hasher, clock)
    await made.bootstrap(folder, PASSWORD).run()
    return made


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
async def installation(
    database: Database, hasher: PasswordHasher, clock: MovableClock, tmp_path: Path
) -> Installation:
    return await prepared(database, hasher, clock, tmp_path)


@pytest.fixture
async def vault(database: Database, tmp_path: Path) -> Vault:
    return await Vault.open(database, data_dir=tmp_path, environ={})


@pytest.fixture
def start(installation: Installation, vault: Vault, clock: MovableClock) -> NodeStarter:
    """`node = await start()`: one more node of the service."""

    async def started() -> Node:
        return await start_node(installation, vault, clock)

    return started


@pytest.fixture
async def node(start: NodeStarter) -> Node:
    return await start()


@pytest.fixture(scope="module")
async def untouched(
    mongo_uri: str, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Node]:
    """One node for all tests of a module that only see requests refused (a database each costs 0.3 s)."""
    database, clock = connect(mongo_uri, f"t{uuid4().hex[:20]}"), MovableClock()
    folder = tmp_path_factory.mktemp("untouched")
    installation = await prepared(database, hasher, clock, folder)
    vault = await Vault.open(database, data_dir=folder, environ={})
    yield await start_node(installation, vault, clock)
    await database.drop()
    database.close()


@pytest.fixture
def http(servers: Servers) -> Callable[[Node], ApiClient]:
    """`client = http(node)`."""
    return partial(serve_node, servers)
