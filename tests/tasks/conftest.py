"""The served routes of tasks."""

import pytest

from tests.support.databases import Indexed
from tests.support.serving import Serve
from tests.tasks.api import Tasks, open_tasks


@pytest.fixture
async def tasks(indexed: Indexed, serve: Serve) -> Tasks:
    return await open_tasks(indexed, serve)
