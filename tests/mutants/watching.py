"""Plugins of pytest: which test executes which line, and of the chosen tests the first one that fails.

They are told what to do in a file that the variable `MUTANTS_ORDERS` names.
"""

import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutants.forking import Forking

VARIABLE = "MUTANTS_ORDERS"
SHARED = ""
"""The key of what session fixtures execute, for all tests."""
Lines = dict[str, set[int]]


def pytest_configure(config: pytest.Config) -> None:
    orders = json.loads(Path(os.environ[VARIABLE]).read_text())
    config.pluginmanager.register(SharedMongo(orders["mongo_uri"]))
    match orders["what"]:
        case "map":
            config.pluginmanager.register(Mapping(orders))
        case "run":
            config.pluginmanager.register(Chosen(orders["tests"]))
            config.pluginmanager.register(Failure(Path(orders["out"])))
        case "serve":
            config.pluginmanager.register(Failure(Path(orders["out"])))
            config.pluginmanager.register(Forking(orders["socket"]))


class SharedMongo:
    """The database of another process in the place of one that each run would start."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> str | None:
        if fixturedef.argname != "mongo_uri":
            return None
        fixturedef.cached_result = (self._uri, fixturedef.cache_key(request), None)
        return self._uri


class Mapping:
    """Writes for each test its seconds, whether it passed, and the lines of the watched files it executed."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self._out = Path(orders["out"])
        self._watched = {str(Path(orders["root"]) / path): path for path in orders["files"]}
        self._lines: dict[str, Lines] = defaultdict(lambda: defaultdict(set))
        self._seconds: dict[str, float] = defaultdict(float)
        self._failed: set[str] = set()
        self._current: Lines | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._current = self._lines[item.nodeid]
        sys.settrace(self._trace)
        threading.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self._current = None

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        before, scope = self._current, fixturedef.scope
        if scope != "function":
            of_file = request.node.nodeid.partition("::")[0] if scope in ("module", "class") else SHARED
            self._current = self._lines[of_file]
        try:
            return (yield)
        finally:
            self._current = before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        lines = {
            name: {path: sorted(numbers) for path, numbers in found.items()}
            for name, found in self._lines.items()
        }
        made = {"lines": lines, "seconds": self._seconds, "failed": sorted(self._failed)}
        self._out.write_text(json.dumps(made))

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        path = self._watched.get(frame.f_code.co_filename)
        if path is None or frame.f_code.co_name == "<module>":
            return None
        current = self._current
        if current is not None:
            current[path].add(frame.f_lineno)
        return self._trace_line

    def _trace_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and self._current is not None:
            self._current[self._watched[frame.f_code.co_filename]].add(frame.f_lineno)
        return self._trace_line


class Chosen:
    """Runs the tests in the order in which they are named."""

    def __init__(self, names: list[str]) -> None:
        self._order = {name: place for place, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self._order]
        items[:] = sorted(chosen, key=lambda item: self._order[item.nodeid])


class Failure:
    """Writes the name of the first test that fails."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._out.exists():
            text = str(getattr(report.longrepr, "reprcrash", "") or report.longrepr)
            self._out.write_text(json.dumps({"test": report.nodeid, "text": text[-300:]}))
