"""What /health says of a node that answers but does not do its work."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from netautod.server.server import ServiceState
from netautod.store.client import Database


@pytest.mark.parametrize(
    ("node", "health"),
    [
        pytest.param(SimpleNamespace(stands_still=False), "ok", id="its due scan runs"),
        pytest.param(SimpleNamespace(stands_still=True), "unavailable", id="its due scan stands still"),
        pytest.param(None, "ok", id="it has none"),
    ],
)
async def test_a_node_whose_scan_stands_still_is_not_healthy(
    database: Database, node: Any, health: str
) -> None:
    state = ServiceState()
    state.phase, state.database, state.node = "ok", database, cast(Any, node)
    assert await state.health() == health
