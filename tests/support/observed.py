"""What a histogram of the metrics holds."""

from netautod.core.metrics import DECLARED, Metrics, Observed


def observed(metrics: Metrics, name: str, *labels: str) -> Observed:
    """Without a value yet: one that has counted nothing."""
    for one in metrics.series():
        if (one.name, one.labels) == (name, labels):
            assert isinstance(one.value, Observed)
            return one.value
    return Observed(counts=[0] * (len(DECLARED[name].buckets) + 1))
