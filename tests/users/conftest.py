"""An installation before and after its first start."""

from pathlib import Path

import pytest

from netautod.core.clock import SystemClock
from netautod.store.client import Database
from netautod.users.passwords import PasswordHasher
from tests.users.support import Installation, install


@pytest.fixture
async def installation(indexed: Database, hasher: PasswordHasher) -> Installation:
    """Before its first start."""
    return install(indexed, hasher, SystemClock())


@pytest.fixture
async def started(installation: Installation, tmp_path: Path) -> Installation:
    return await installation.started(tmp_path)


@pytest.fixture(scope="module")
async def untouched(
    module_database: Database, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    """A started one for all tests of a module that only see requests refused."""
    made = install(module_database, hasher, SystemClock())
    return await made.started(tmp_path_factory.mktemp("untouched"))
