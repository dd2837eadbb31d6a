"""The printed account of a benchmark: parameters, raw numbers of each side, and `name value unit` lines."""

import subprocess
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from statistics import median
from typing import Literal

ROOT = Path(__file__).resolve().parents[3]
Direction = Literal["at least", "at most"]


class BenchmarkError(Exception):
    """One line that says what is missing, or what the measured side did instead of its work."""


class Report:
    """Every printed line is `name value unit`, or a remark that begins with `#`.

    `short` names the measures that missed what was wanted of them.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.short: list[str] = []
        print(f"# benchmark {name}", flush=True)

    def parameter(self, name: str, value: object) -> None:
        """What the numbers depend on; a remark."""
        print(f"# {self.name}.{name} = {value}", flush=True)

    def raw(self, side: str, values: Sequence[float], unit: str) -> float:
        """All numbers of one side as a remark, their median as a line; answers the median."""
        numbers = " ".join(_number(value) for value in values)
        print(f"# {self.name}.{side} raw: {numbers} {unit}")
        middle = median(values)
        self.value(side, middle, unit)
        return middle

    def value(self, measure: str, value: float, unit: str) -> None:
        """One line that nothing is wanted of."""
        print(f"{self.name}.{measure} {_number(value)} {unit}", flush=True)

    def wanted(self, measure: str, value: float, unit: str, direction: Direction, limit: float) -> None:
        """One line with its target; a miss makes the run end with exit code 1."""
        self.value(measure, value, unit)
        met = value >= limit if direction == "at least" else value <= limit
        print(f"# {self.name}.{measure} wanted {direction} {limit:g}: {'met' if met else 'MISSED'}")
        if not met:
            self.short.append(f"{self.name}.{measure}")


def commit() -> str:
    """The commit of the checkout, with `-dirty` when files differ from it; `unknown` outside of git."""
    revision = _git("rev-parse", "HEAD")
    if not revision:
        return "unknown"
    return revision + ("-dirty" if _git("status", "--porcelain") else "")


def percentile(values: Sequence[float], part: float) -> float:
    """The nearest-rank percentile: `part` 0.99 of 1,000 values is the 990th smallest."""
    ranked = sorted(values)
    return ranked[max(0, ceil(part * len(ranked)) - 1)]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
