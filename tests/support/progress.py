"""How far a run of the tests is: a line every few seconds instead of a dot for each of thousands."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol

import pytest

SECONDS = 15.0  # between two lines
NAME = "progress of the tests"

Status = tuple[str, str, str | tuple[str, dict[str, bool]]]


class Lines(Protocol):
    """What the terminal's reporter of pytest is asked for."""

    def ensure_newline(self) -> None: ...

    def write_line(self, line: str, **markup: bool) -> None: ...


@dataclass(kw_only=True, eq=False)  # pytest keeps its plugins in sets
class Progress:
    """A plugin that counts the tests that are over. `now` counts seconds, `total` all tests."""

    out: Lines
    total: Callable[[], int]
    now: Callable[[], float] = time.monotonic
    over: set[str] = field(default_factory=set)
    failed: int = 0

    def __post_init__(self) -> None:
        self._started = self._shown = self.now()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        self._started = self._shown = self.now()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Status, Status]:
        """Leave out the letter of a test, not what the closing line counts."""
        category, _, word = yield
        return category, "", word

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed += 1
            when = "" if report.when == "call" else f" ({report.when})"
            self._print(f"FAILED {report.nodeid}{when}", red=True)
        if report.when != "teardown":
            return
        self.over.add(report.nodeid)
        if self.now() - self._shown >= SECONDS:
            self._shown = self.now()
            self._print(self.line())

    def line(self) -> str:
        """Return for example `45 % of 9,100 tests, 2:10 left`; the first tests tell nothing of the rest."""
        over = len(self.over)
        total = max(self.total(), over, 1)
        left = ""
        if over * 50 >= total:
            minutes, seconds = divmod(round((self.now() - self._started) / over * (total - over)), 60)
            left = f", {minutes}:{seconds:02} left"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{100 * over // total} % of {total:,} tests{left}{failed}"

    def _print(self, line: str, **markup: bool) -> None:
        self.out.ensure_newline()
        self.out.write_line(line, **markup)


def show_progress(config: pytest.Config, total: Callable[[], int]) -> None:
    """Register the plugin where results are printed, unless each test has a line of its own (`-v`)."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    each_has_a_line = config.get_verbosity(pytest.Config.VERBOSITY_TEST_CASES) > 0
    if reporter is None or hasattr(config, "workerinput") or each_has_a_line:
        return
    reporter.showfspath = False
    config.pluginmanager.register(Progress(out=reporter, total=total), NAME)
