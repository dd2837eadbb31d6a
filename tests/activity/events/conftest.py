"""Nodes that stream events."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from netautod.activity.events import tailer
from netautod.store.client import Database
from tests.activity.events.nodes import Nodes
from tests.support.serving import Servers


@pytest.fixture
async def nodes(indexed: Database, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Nodes]:
    """Return nodes that look ten times and stop five times as often as in production."""
    monkeypatch.setattr(tailer, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(tailer, "WAIT_SECONDS", 0.1)
    async with AsyncExitStack() as stack:
        yield Nodes(database=indexed, servers=servers, stack=stack)
