"""An installation before and after its first start."""

from pathlib import Path

import pytest

from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.store.client import Database
from tests.support.installation import Installation, open_installation


@pytest.fixture
async def installation(
    indexed: Database, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    """Return an installation before its first start."""
    return await open_installation(indexed, tmp_path_factory.mktemp("keys"), hasher=hasher)


@pytest.fixture
async def started(installation: Installation, tmp_path: Path) -> Installation:
    return await installation.started(tmp_path)


@pytest.fixture(scope="module")
async def untouched(
    module_database: Database, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    """Return a started one for all tests of a module that only see requests refused."""
    folder = tmp_path_factory.mktemp("untouched")
    return await (await open_installation(module_database, folder, hasher=hasher)).started(folder)
