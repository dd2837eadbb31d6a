"""The world of the execution tests, and the served routes of tasks and executions."""

import pytest

from tests.support.databases import Indexed
from tests.support.execution import INDEXES, World
from tests.support.serving import Serve
from tests.tasks.api import Tasks, open_tasks


@pytest.fixture
async def world(indexed: Indexed) -> World:
    return World(database=await indexed(INDEXES))


@pytest.fixture
async def tasks(indexed: Indexed, serve: Serve) -> Tasks:
    return await open_tasks(indexed, serve)
