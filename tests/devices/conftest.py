"""The inventory's services with devices that can be visited."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.configs.fleet import Fleet, open_fleet
from tests.support.databases import Indexed
from tests.support.serving import Serve


@pytest.fixture
async def fleet(indexed: Indexed, serve: Serve, tmp_path: Path) -> AsyncIterator[Fleet]:
    async with open_fleet(indexed, serve, tmp_path) as made:
        yield made
