"""The table of metrics."""

import pytest

from netautod.core.metrics import Metrics


def test_metrics_know_their_names() -> None:
    metrics = Metrics()
    metrics.add("scheduler_fired", 2)
    metrics.set("executions_running", 7)
    assert (metrics.value("scheduler_fired"), metrics.snapshot()["executions_running"]) == (2, 7)
    with pytest.raises(KeyError):
        metrics.add("bananas")
