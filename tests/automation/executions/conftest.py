"""The world of the execution tests, and the served routes of tasks and executions."""

import pytest

from netautod.store.client import Database
from tests.automation.tasks.conftest import tasks
from tests.support.execution import World

__all__ = ["tasks"]


@pytest.fixture
async def world(indexed: Database) -> World:
    return World(database=indexed)
