"""Nodes that stream events."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from netautod.store.client import Database
from tests.events.nodes import Nodes
from tests.support.serving import Servers


@pytest.fixture
async def nodes(indexed: Database, servers: Servers) -> AsyncIterator[Nodes]:
    async with AsyncExitStack() as stack:
        yield Nodes(database=indexed, servers=servers, stack=stack)
