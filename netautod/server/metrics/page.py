"""The page as text, of one process or of several workers."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from netautod.core.metrics import DECLARED, Declared, Metrics, Observed, Series

logger = logging.getLogger(__name__)
PREFIX = "netautod_"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def page_of(metrics: Metrics) -> bytes:
    return _text([*_families(metrics.series()), _info()])


def page_of_workers(pages: Mapping[str, str | None]) -> bytes:
    """Merge the pages of workers by their number, None for one that did not answer: each series with its
    worker.

    Takes a second and more where the pages are long: call it in a thread.
    """
    merged: dict[str, Metric] = {}
    up = GaugeMetricFamily(f"{PREFIX}worker_up", "Whether the worker serves.", labels=["worker"])
    for worker, page in pages.items():
        families = _read(worker, page)
        up.add_metric([worker], 1 if families else 0)
        for family in families:
            whole = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                whole.add_sample(sample.name, {**sample.labels, "worker": worker}, sample.value)
    return _text([*merged.values(), up])


def _read(worker: str, page: str | None) -> list[Metric]:
    """Read a page; nothing of one that cannot be read: half of it would be counters that go back."""
    try:
        return list(text_string_to_metric_families(page or ""))
    except (ValueError, LookupError):  # as the parser does for what it does not expect
        logger.exception("the page of metrics of worker %s cannot be read", worker)
        return []


def _families(series: Iterable[Series]) -> Iterator[Metric]:
    """Yield the families in the order of their names; one that has no series yet is named all the same."""
    found: defaultdict[str, list[Series]] = defaultdict(list)
    for one in series:
        found[one.name].append(one)
    for name, declared in DECLARED.items():
        yield _family(PREFIX + name, declared, found[name])


def _family(name: str, declared: Declared, series: Iterable[Series]) -> Metric:
    if declared.kind == "histogram":
        histogram = HistogramMetricFamily(name, declared.help, labels=declared.labels)
        for one in series:
            assert isinstance(one.value, Observed)
            histogram.add_metric(one.labels, _buckets(declared.buckets, one.value), one.value.total)
        return histogram
    kind = CounterMetricFamily if declared.kind == "counter" else GaugeMetricFamily
    family = kind(name, declared.help, labels=declared.labels)
    for one in series:
        assert not isinstance(one.value, Observed)
        family.add_metric(one.labels, one.value)
    return family


def _buckets(limits: Iterable[float], found: Observed) -> list[tuple[str, float]]:
    return list(zip([*(repr(limit) for limit in limits), "+Inf"], accumulate(found.counts), strict=True))


def _info() -> Metric:
    info = GaugeMetricFamily(f"{PREFIX}build_info", "The version that runs.", labels=["version"])
    info.add_metric([version("netautod")], 1)
    return info


def _text(families: Iterable[Metric]) -> bytes:
    class Given(Collector):
        def collect(self) -> Iterable[Metric]:
            return families

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Given())
    return generate_latest(registry)
