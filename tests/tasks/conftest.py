"""The served routes of tasks."""

import pytest

from netautod.store.client import Database
from tests.support.serving import Serve
from tests.tasks.api import Tasks, open_tasks


@pytest.fixture
async def tasks(indexed: Database, serve: Serve) -> Tasks:
    return await open_tasks(indexed, serve)
