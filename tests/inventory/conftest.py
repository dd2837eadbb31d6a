"""The inventory's services on a fresh database, served."""

from pathlib import Path

import pytest

from tests.devices.inventory import Inventory, open_inventory
from tests.support.databases import Indexed
from tests.support.serving import Serve


@pytest.fixture
async def inventory(indexed: Indexed, serve: Serve, tmp_path: Path) -> Inventory:
    return await open_inventory(indexed, serve, tmp_path)
