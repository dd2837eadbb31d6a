"""An installation after its first start, and nodes of it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from netautod.audit import store as audit
from netautod.auth.lockout import store as failure_counters
from netautod.auth.sessions import store as sessions
from netautod.auth.tokens import store as tokens
from netautod.store.client import Database
from netautod.store.indexes import create_indexes
from netautod.users import store as users
from netautod.users.organizations import store as organizations
from netautod.users.passwords import PasswordHasher
from netautod.vault.vault import Vault
from tests.auth.support import Node, NodeStarter, serve_node, start_node
from tests.support.client import ApiClient
from tests.support.clock import MovableClock
from tests.support.databases import Indexed
from tests.support.serving import Servers
from tests.users.support import Installation, install

INDEXES = tuple(
    index
    for module in (audit, failure_counters, organizations, sessions, tokens, users)
    for index in module.INDEXES
)


@pytest.fixture
async def installation(
    indexed: Indexed, hasher: PasswordHasher, clock: MovableClock, tmp_path: Path
) -> Installation:
    """After its first start."""
    return await install(await indexed(INDEXES), hasher, clock).started(tmp_path)


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
    module_database: Database, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> Node:
    """One node for all tests of a module that only see requests refused."""
    clock, folder = MovableClock(), tmp_path_factory.mktemp("untouched")
    await create_indexes(module_database, INDEXES)
    installation = await install(module_database, hasher, clock).started(folder)
    vault = await Vault.open(module_database, data_dir=folder, environ={})
    return await start_node(installation, vault, clock)


@pytest.fixture
def http(servers: Servers) -> Callable[[Node], ApiClient]:
    """`client = http(node)`."""
    return partial(serve_node, servers)
