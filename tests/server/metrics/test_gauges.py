"""What the database counts for the page, and what the page says when it does not answer."""

from collections.abc import Iterator

import pytest

from netautod.core.metrics import Metrics, Series
from netautod.server.metrics import gauges
from netautod.server.metrics.gauges import DatabaseGauges
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.support.clock import MovableClock
from tests.support.databases import stores_of
from tests.support.programs.started import free_port

OF_THE_DATABASE = {
    "scheduler_oldest_due_seconds",
    "executions_pending",
    "polls_waiting",
    "credentials_suspended",
    "notes_vaults_unlocked",
    "webhook_deliveries_waiting",
    "webhook_deliveries_oldest_seconds",
}


@pytest.fixture
def gone() -> Iterator[Database]:
    """One whose server does not exist."""
    made = connect(f"mongodb://127.0.0.1:{free_port()}", "gone")
    yield made
    made.close()


def of(database: Database, metrics: Metrics, clock: MovableClock) -> DatabaseGauges:
    stores = stores_of(database)
    return DatabaseGauges(
        metrics=metrics,
        clock=clock,
        executions=stores.executions,
        tasks=stores.tasks,
        polls=stores.polls,
        suspensions=stores.suspensions,
        notes=stores.notes,
        deliveries=stores.webhook_deliveries,
    )


def told(metrics: Metrics) -> dict[str, Series]:
    return {one.name: one for one in metrics.series() if one.name in OF_THE_DATABASE}


@pytest.mark.parametrize("answered_before", [True, False], ids=["any more", "ever"])
async def test_a_database_that_does_not_answer(
    indexed: Database,
    gone: Database,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    answered_before: bool,
) -> None:
    """It is down, and what it said before is not said again: nobody knows what waits meanwhile."""
    monkeypatch.setattr(gauges, "FRESH_SECONDS", 0.0)
    metrics = Metrics()
    looked = of(indexed, metrics, clock)
    if answered_before:
        await looked.refresh()
        assert metrics.value("database_up") == 1
        assert set(told(metrics)) == OF_THE_DATABASE
    # The last to be asked: what was read before it is not said either.
    there, looked.deliveries = looked.deliveries, stores_of(gone).webhook_deliveries
    monkeypatch.setattr(gauges, "READ_SECONDS", 0.5)
    await looked.refresh()
    assert [one.value for one in metrics.series() if one.name == "database_up"] == [0]
    assert not told(metrics)
    monkeypatch.undo()
    monkeypatch.setattr(gauges, "FRESH_SECONDS", 0.0)
    looked.deliveries = there
    await looked.refresh()
    assert metrics.value("database_up") == 1
    assert set(told(metrics)) == OF_THE_DATABASE
