"""An installation with its indexes, before its first start."""

from collections.abc import AsyncIterator

import pytest

from netautod.auth.passwords import PasswordHasher
from netautod.clock import SystemClock
from netautod.store.client import Database
from netautod.store.indexes import create_indexes
from netautod.users import organization_store, store
from tests.users.support import Installation, install


@pytest.fixture(scope="session")
async def hasher() -> AsyncIterator[PasswordHasher]:
    async with PasswordHasher() as made:
        yield made


@pytest.fixture
async def installation(database: Database, hasher: PasswordHasher) -> Installation:
    await create_indexes(database, [*store.INDEXES, *organization_store.INDEXES])
    return install(database, hasher, SystemClock())
