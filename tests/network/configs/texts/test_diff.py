"""The unified diff: applying it gives the new text, and it stays quick where difflib does not."""

import random
import re
import time
from collections.abc import Iterator

import pytest

from netautod.network.configs.texts.diff import Difference, Lines, unified
from tests.support.calibration import slowness


def lines(text: list[str]) -> Lines:
    return Lines(compared=text, shown=text)


def difference(old: list[str], new: list[str]) -> Difference:
    return unified(lines(old), lines(new), old_name="version 1", new_name="version 2")


def patched(old: list[str], diff: str) -> list[str]:
    """What `patch` would make of it: every line of the diff must fit."""
    result: list[str] = []
    at = 0
    body = diff.split("\n")[2:-1]
    for line in body:
        head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line)
        if head:
            start = int(head[1]) - (head[2] != "0")
            result += old[at:start]
            at = start
        elif line[0] in " -":
            assert old[at] == line[1:]
            result += [line[1:]] if line[0] == " " else []
            at += 1
        else:
            assert line[0] == "+"
            result.append(line[1:])
    return result + old[at:]


def test_the_form_is_that_of_diff_u() -> None:
    old = [f"line {number}" for number in range(1, 21)]
    new = [*old[:4], "changed", *old[5:], "added"]
    found = difference(old, new)
    assert found.text == "\n".join(
        [
            "--- version 1",
            "+++ version 2",
            "@@ -2,7 +2,7 @@",
            *(" line 2", " line 3", " line 4", "-line 5", "+changed", " line 6", " line 7", " line 8"),
            "@@ -18,3 +18,4 @@",
            *(" line 18", " line 19", " line 20", "+added", ""),
        ]
    )
    assert (found.additions, found.deletions) == (2, 1)


@pytest.mark.parametrize(
    ("old", "new", "head"),
    [
        pytest.param(["a"], ["a"], None, id="equal texts have no diff"),
        pytest.param([], ["a", "b"], "@@ -0,0 +1,2 @@", id="all is new"),
        pytest.param(["a", "b"], [], "@@ -1,2 +0,0 @@", id="nothing is left"),
        pytest.param(["a"], ["b"], "@@ -1 +1 @@", id="one line replaced"),
        pytest.param(["!"] * 9, ["!"] * 10, "@@ -7,3 +7,4 @@", id="one more of many equal lines"),
    ],
)
def test_edges(old: list[str], new: list[str], head: str | None) -> None:
    found = difference(old, new)
    heads = [line for line in found.text.split("\n") if line.startswith("@@")]
    assert heads == ([head] if head else [])
    assert patched(old, found.text or "\n\n") == new


def _pairs() -> Iterator[tuple[list[str], list[str]]]:
    chance = random.Random(2)
    for _ in range(400):
        letters = "abcdefghijklmnopqrst"[: chance.choice([2, 4, 20])]
        old = chance.choices(letters, k=chance.randrange(40))
        new = list(old)
        for _ in range(chance.randrange(8)):
            if new and chance.random() < 0.5:
                del new[chance.randrange(len(new))]
            else:
                new.insert(chance.randrange(len(new) + 1), chance.choice("abcXY"))
        yield old, new


def test_applying_a_diff_gives_the_new_text() -> None:
    for old, new in _pairs():
        found = difference(old, new)
        assert patched(old, found.text or "\n\n") == new
        assert (found.text == "") == (old == new)
        assert len(new) - len(old) == found.additions - found.deletions


@pytest.mark.parametrize(
    ("old_lines", "new_lines", "changed"),
    [
        pytest.param(200, 200, (4, 4), id="as many pairs as are compared"),
        pytest.param(221, 181, (181, 221), id="one pair more"),
    ],
)
def test_lines_that_are_all_repeated_are_compared_up_to_so_many_pairs(
    old_lines: int, new_lines: int, changed: tuple[int, int]
) -> None:
    """One side has `x` where the other has `y`, and nothing that is there once."""
    old = ["x", "x", *["a"] * (old_lines - 4), "x", "x"]
    new = ["y", "y", *["a"] * (new_lines - 4), "y", "y"]
    found = difference(old, new)
    assert (found.additions, found.deletions) == changed


def test_what_is_compared_need_not_be_shown() -> None:
    old = Lines(compared=["user", "secret:1"], shown=["user", "<hidden>"])
    new = Lines(compared=["user", "secret:2"], shown=["user", "<hidden>"])
    found = unified(old, new, old_name="a", new_name="b")
    assert found.text.split("\n")[3:] == [" user", "-<hidden>", "+<hidden>", ""]


def test_what_is_too_long_is_counted_and_not_shown() -> None:
    old = [f"line {number}" for number in range(100)]
    new = [f"changed {number}" if number % 10 == 5 else line for number, line in enumerate(old)]
    whole = difference(old, new)
    cut = unified(lines(old), lines(new), old_name="version 1", new_name="version 2", most_characters=200)
    assert (cut.additions, cut.deletions) == (whole.additions, whole.deletions) == (10, 10)
    shown, _, remark = cut.text.rstrip("\n").rpartition("\n")
    assert whole.text.startswith(shown + "\n@@ ")
    assert remark == "\\ The diff is too long: 8 more hunks are not shown"


@pytest.mark.parametrize("changes", [100, 40_000], ids=["scattered changes", "nothing in common"])
def test_forty_thousand_lines_with_many_equal_ones_take_no_half_minute(changes: int) -> None:
    chance = random.Random(3)
    old = [
        line
        for number in range(8_000)
        for line in (f"interface {number}", " switchport", " no shutdown", f" vlan {number % 9}", "!")
    ]
    new = list(old)
    for at in chance.sample(range(len(new)), changes):
        new[at] = f"changed {at % 50}"
    started = time.process_time()
    found = difference(old, new)
    assert time.process_time() - started < 2 * slowness()
    assert found.additions == changes
