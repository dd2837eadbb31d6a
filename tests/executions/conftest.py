"""The world of the execution tests, and the served routes of tasks and executions."""

import pytest

from netautod.store.client import Database
from tests.support.execution import World
from tests.support.serving import Serve
from tests.tasks.api import Tasks, open_tasks


@pytest.fixture
async def world(indexed: Database) -> World:
    return World(database=indexed)


@pytest.fixture
async def tasks(indexed: Database, serve: Serve) -> Tasks:
    return await open_tasks(indexed, serve)
