"""The page of metrics as text, and what is made of it: the dashboard and the rules name what there is."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from netautod.activity.webhooks.models import Status
from netautod.automation.executions.transitions import TERMINAL
from netautod.core.metrics import DECLARED, Metrics
from netautod.server.metrics.page import page_of, page_of_workers
from netautod.transport.ssh.failures import FailureKind

CONFIG = Path(__file__).parents[3] / "config"
RULES, DASHBOARD = CONFIG / "prometheus-rules.yml", CONFIG / "grafana-dashboard.json"
RULES_TEST = Path(__file__).parent / "rules_test.yml"
ADDED = {"instance", "job", "le", "worker", "version"}


@pytest.fixture
def promtool() -> str:
    program = shutil.which("promtool")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("promtool is not installed")
        pytest.skip("promtool is not installed")
    return program


def counted() -> Metrics:
    metrics = Metrics()
    metrics.add("http_requests", 2, "GET", "/api/devices/:id", "200")
    metrics.add("scheduler_missed", 3)
    metrics.set("executions_running", 4)
    for seconds in (0.005, 0.006, 99):
        metrics.observe("http_request_seconds", seconds, "/api/devices/:id")
    return metrics


def test_what_is_counted_is_on_the_page() -> None:
    lines = page_of(counted()).decode().splitlines()
    route = 'route="/api/devices/:id"'
    for line in (
        'netautod_http_requests_total{method="GET",route="/api/devices/:id",status="200"} 2.0',
        "netautod_scheduler_missed_total 3.0",
        "netautod_executions_running 4.0",
        f'netautod_http_request_seconds_bucket{{le="0.005",{route}}} 1.0',
        f'netautod_http_request_seconds_bucket{{le="0.01",{route}}} 2.0',
        f'netautod_http_request_seconds_bucket{{le="30.0",{route}}} 2.0',
        f'netautod_http_request_seconds_bucket{{le="+Inf",{route}}} 3.0',
        f"netautod_http_request_seconds_count{{{route}}} 3.0",
    ):
        assert line in lines, line


def test_of_workers_each_has_its_series() -> None:
    text = page_of_workers({"0": page_of(counted()).decode(), "1": None}).decode()
    lines = text.splitlines()
    for line in (
        'netautod_scheduler_missed_total{worker="0"} 3.0',
        'netautod_worker_up{worker="0"} 1.0',
        'netautod_worker_up{worker="1"} 0.0',
    ):
        assert line in lines, line
    assert len([line for line in lines if line.startswith("# TYPE netautod_http_requests_total")]) == 1


def test_a_name_or_a_label_too_many_is_a_mistake() -> None:
    metrics = Metrics()
    for name, labels in (("nothing", ()), ("scheduler_fired", ("label",)), ("http_requests", ("GET",))):
        with pytest.raises(KeyError):
            metrics.add(name, 1, *labels)


@pytest.mark.parametrize("of_workers", [False, True], ids=["of one process", "of workers"])
def test_names_follow_the_conventions(promtool: str, of_workers: bool) -> None:
    page = page_of(counted())
    if of_workers:
        page = page_of_workers({"0": page.decode(), "1": page.decode()})
    checked = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def named_in(expression: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each series that it names, with (label, value or pattern) of its selectors."""
    for name, selectors in re.findall(r"(netautod_\w+)(?:\{([^}]*)\})?", expression):
        yield name, re.findall(r'(\w+)\s*(?:=|!=|=~|!~)\s*"([^"]*)"', selectors)


def series_on(page: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    for family in text_string_to_metric_families(page.decode()):
        yield from ((sample.name, sample.labels) for sample in family.samples)


def known_series() -> dict[str, set[str]]:
    """The labels of every series of the page by its name, also of those without a value yet."""
    metrics = Metrics()
    for name, declared in DECLARED.items():
        values = ["x"] * len(declared.labels)
        if declared.kind == "histogram":
            metrics.observe(name, 1.0, *values)
        else:
            metrics.add(name, 1, *values)
    page = page_of_workers({"0": page_of(metrics).decode()})
    return {name: set(labels) for name, labels in series_on(page)}


@pytest.mark.parametrize("expression", [pytest.param(one, id=f"{n}") for n, one in enumerate(expressions())])
def test_the_dashboard_and_the_rules_name_what_there_is(expression: str) -> None:
    known = known_series()
    named = list(named_in(expression))
    assert named or "up{" in expression
    for name, selectors in named:
        assert name in known, name
        asked = {label for label, _ in selectors}
        assert asked <= known[name] | ADDED, (name, asked)
    labels = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    assert labels <= set().union(*known.values()) | ADDED


# Values that nobody can name before they come: a rule over them has to do with a series that begins late.
OPEN = {"netautod_http_requests_total": "status"}


@pytest.mark.parametrize("expression", [pytest.param(one, id=f"{n}") for n, one in enumerate(expressions())])
def test_what_is_asked_for_by_its_value_is_there_before_it_counts(expression: str) -> None:
    """A fresh service: the first login that fails would otherwise be no increase."""
    fresh = list(series_on(page_of(Metrics())))
    for name, selectors in named_in(expression):
        for label, pattern in selectors:
            if label in ADDED or OPEN.get(name) == label:
                continue
            for value in pattern.split("|"):
                assert any(one == name and labels[label] == value for one, labels in fresh), (name, value)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("device_sessions", {"ok", "cancelled", "error", *get_args(FailureKind)}),
        ("executions_ended", set(TERMINAL)),
        ("webhook_deliveries", {"retried", *get_args(Status)} - {"waiting"}),
    ],
)
def test_what_can_be_counted_is_there_from_the_start(name: str, values: set[str]) -> None:
    assert set(DECLARED[name].from_zero) == values


def test_what_is_not_known_is_not_on_the_page() -> None:
    """No 0 for the room on a disk that is not ours, nor what the database said before it went away."""
    metrics = Metrics()
    names = ["database_disk_free_bytes", "executions_pending"]
    assert not shown(metrics, names)
    for name in names:
        metrics.set(name, 7)
    assert shown(metrics, names) == {f"netautod_{name}" for name in names}
    metrics.forget(*names)
    assert not shown(metrics, names)


def shown(metrics: Metrics, names: Iterable[str]) -> set[str]:
    return {name for name, _ in series_on(page_of(metrics))} & {f"netautod_{name}" for name in names}


def test_each_rule_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    cases = yaml.safe_load(RULES_TEST.read_text())["tests"]
    checks = [check for case in cases for check in case["alert_rule_test"]]
    names = {rule["alert"] for rule in rules()}
    assert {check["alertname"] for check in checks if check.get("exp_alerts")} == names
    assert {check["alertname"] for check in checks if not check.get("exp_alerts")} == names


def test_the_rules_fire_for_what_they_are_about(promtool: str, tmp_path: Path) -> None:
    test = tmp_path / "test.yml"
    test.write_text(RULES_TEST.read_text().replace("RULES", str(RULES)))
    for command in (("check", "rules", str(RULES)), ("test", "rules", str(test))):
        ran = subprocess.run([promtool, *command], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
