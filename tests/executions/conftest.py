"""The world of the execution tests."""

import pytest

from netautod.store.client import Database
from netautod.store.indexes import create_indexes
from tests.support.execution import INDEXES, World


@pytest.fixture
async def world(database: Database) -> World:
    await create_indexes(database, INDEXES)
    return World(database=database)
