"""Devices that are polled."""

from collections.abc import AsyncIterator

import pytest

from tests.network.devices.inventory import Inventory
from tests.network.discovery.polling.nodes import Polled, polled_inventory
from tests.support.clock import MovableClock


@pytest.fixture
async def polled(inventory: Inventory, clock: MovableClock) -> AsyncIterator[Polled]:
    async with polled_inventory(inventory, clock) as made:
        yield made
