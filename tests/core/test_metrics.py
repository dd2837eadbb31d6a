"""The table of metrics, and which test provokes each of them.

tests/data/metrics.csv has a line for each: its name, and a test that does what is counted and reads it.
"""

import ast
import csv
from pathlib import Path

import pytest

from netautod.core.metrics import DECLARED, Metrics

ROOT = Path(__file__).parents[2]


def test_metrics_know_their_names() -> None:
    metrics = Metrics()
    metrics.add("scheduler_fired", 2)
    metrics.set("executions_running", 7)
    assert (metrics.value("scheduler_fired"), metrics.snapshot()["executions_running"]) == (2, 7)
    with pytest.raises(KeyError):
        metrics.add("bananas")


def provoking() -> dict[str, str]:
    """Tests by the name of the metric."""
    with (ROOT / "tests/data/metrics.csv").open(newline="") as file:
        return {line[0]: line[1] for line in csv.reader(file, delimiter=";")}


def test_every_metric_is_provoked_by_a_test() -> None:
    assert set(provoking()) == set(DECLARED)


@pytest.mark.parametrize(("name", "test"), provoking().items())
def test_the_test_that_provokes_it_is_there(name: str, test: str) -> None:
    path, _, function = test.partition("::")
    text = (ROOT / path).read_text()
    assert function in {getattr(node, "name", "") for node in ast.parse(text).body}
    assert f'"{name}' in text, f"{path} does not name it"
