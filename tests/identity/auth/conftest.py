"""An installation after its first start, and nodes of it."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.store.client import Collection, Database
from tests.identity.auth.support import Node, NodeStarter, ServeNode, serve_node, start_node
from tests.support.clock import MovableClock
from tests.support.installation import Installation, open_installation
from tests.support.serving import Servers


@pytest.fixture
async def installation(
    indexed: Database, hasher: PasswordHasher, clock: MovableClock, tmp_path: Path
) -> Installation:
    """Return an installation after its first start."""
    made = await open_installation(indexed, tmp_path, clock=clock, hasher=hasher)
    return await made.started(tmp_path)


@pytest.fixture
def start(installation: Installation) -> NodeStarter:
    """Return a function: `node = await start()` starts one more node of the service."""
    return partial(start_node, installation)


@pytest.fixture
async def node(start: NodeStarter) -> Node:
    return await start()


@pytest.fixture(scope="module")
async def untouched(
    module_database: Database, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> Node:
    """Return one node for all tests of a module that only see requests refused."""
    folder = tmp_path_factory.mktemp("untouched")
    made = await open_installation(module_database, folder, clock=MovableClock(), hasher=hasher)
    return await start_node(await made.started(folder))


@pytest.fixture
def http(servers: Servers) -> ServeNode:
    """Return a function: `client = http(node)` serves the node."""
    return partial(serve_node, servers)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the collections that were read, one for each read."""
    names: list[str] = []
    real = Collection._read

    def counted(collection: Collection, work: Any) -> Any:
        names.append(collection.name)
        return real(collection, work)

    monkeypatch.setattr(Collection, "_read", counted)
    return names
