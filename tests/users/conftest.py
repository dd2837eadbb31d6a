"""An installation with its indexes, before its first start."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from netautod.core.clock import SystemClock
from netautod.store.client import Database, connect
from netautod.store.indexes import create_indexes
from netautod.users import store
from netautod.users.organizations import store as organization_store
from netautod.users.passwords import PasswordHasher
from tests.users.support import PASSWORD, Installation, install


@pytest.fixture
async def installation(database: Database, hasher: PasswordHasher) -> Installation:
    await create_indexes(database, [*store.INDEXES, *organization_store.INDEXES])
    return install(database, hasher, SystemClock())


@pytest.fixture(scope="module")
async def untouched(
    mongo_uri: str, hasher: PasswordHasher, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    """One started installation for all tests of a module that only see requests refused."""
    database = connect(mongo_uri, f"t{uuid4().hex[:20]}")
    await create_indexes(database, [*store.INDEXES, *organization_store.INDEXES])
    made = install(database, hasher, SystemClock())
    await made.bootstrap(tmp_path_factory.mktemp("untouched"), PASSWORD).run()
    yield made
    await database.drop()
    database.close()
