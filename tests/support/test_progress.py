"""What is printed while the tests run."""

from dataclasses import dataclass, field

import pytest

from tests.support.progress import SECONDS, Progress


@dataclass(kw_only=True)
class Printed:
    lines: list[str] = field(default_factory=list)

    def ensure_newline(self) -> None:
        pass

    def write_line(self, line: str, **_: bool) -> None:
        self.lines.append(line)


@dataclass(kw_only=True)
class Run:
    """A run of `tests` tests; `at` is its time."""

    tests: int
    at: float = 0.0
    out: Printed = field(default_factory=Printed)

    def __post_init__(self) -> None:
        self.progress = Progress(out=self.out, now=lambda: self.at, total=lambda: self.tests)

    def over(self, number: int, outcome: str = "passed") -> None:
        for when in ("setup", "call", "teardown"):
            was = outcome if when == "call" else "passed"
            self.progress.pytest_runtest_logreport(
                pytest.TestReport(f"t.py::test_{number}", ("t.py", 0, ""), {}, was, None, when)  # type: ignore[arg-type]
            )


@pytest.fixture
def run() -> Run:
    return Run(tests=9100)


def test_a_line_has_the_share_and_the_time_that_is_left(run: Run) -> None:
    run.at = SECONDS - 1
    for number in range(4094):
        run.over(number)
    assert run.out.lines == []
    run.at = 106.0
    run.over(4094)
    assert run.out.lines == ["45 % of 9,100 tests, 2:10 left"]


def test_a_test_that_fails_is_named_at_once_and_counted(run: Run) -> None:
    run.over(0, "failed")
    assert run.out.lines == ["FAILED t.py::test_0"]
    assert run.progress.line() == "0 % of 9,100 tests, 1 failed"


def test_nothing_is_left_when_all_are_over(run: Run) -> None:
    run.tests, run.at = 1, SECONDS
    run.over(0)
    assert run.out.lines == ["100 % of 1 tests, 0:00 left"]
