import pytest

from netautod.store.client import Database
from tests.network.discovery.tables.worlds import World


@pytest.fixture
def world(indexed: Database) -> World:
    return World(indexed)
