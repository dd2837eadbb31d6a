"""The world of the execution tests."""

import pytest

from tests.support.databases import Indexed
from tests.support.execution import INDEXES, World


@pytest.fixture
async def world(indexed: Indexed) -> World:
    return World(database=await indexed(INDEXES))
