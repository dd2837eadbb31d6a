"""An installation after its first start, and nodes of it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from netautod.store.client import Database
from netautod.users.passwords import PasswordHasher
from netautod.vault.vault import Vault
from tests.auth.support import Node, NodeStarter, serve_node, start_node
from tests.support.client import ApiClient
from tests.support.clock import MovableClock
from tests.support.serving import Servers
from tests.users.support import Installation, install


@pytest.fixture
async def installation(
    indexed: Database, hasher: PasswordHasher, clock: MovableClock, tmp_path: Path
) -> Installation:
    """After its first start."""
    return await install(indexed, hasher, clock).started(tmp_path)


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
    installation = await install(module_database, hasher, clock).started(folder)
    vault = await Vault.open(module_database, data_dir=folder, environ={})
    return await start_node(installation, vault, clock)


@pytest.fixture
def http(servers: Servers) -> Callable[[Node], ApiClient]:
    """`client = http(node)`."""
    return partial(serve_node, servers)
