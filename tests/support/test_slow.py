"""The lists of slow tests name files that there are, and leave out what they say."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutants.watching import VARIABLE
from tests.support.slow import CASES, FEW_CASES, STAY, WHOLE, mark_slow


class Item(pytest.Item):
    fixturenames: Sequence[str] = ()

    def runtest(self) -> None:
        raise AssertionError("is only marked")


def marked(request: pytest.FixtureRequest, *nodeids: str) -> list[str]:
    items: list[pytest.Item] = [Item.from_parent(request.session, name=one, nodeid=one) for one in nodeids]
    mark_slow(items)
    return [item.nodeid for item in items if item.get_closest_marker("slow")]


@pytest.mark.parametrize("path", [*WHOLE, *STAY, *FEW_CASES])
def test_every_file_and_folder_of_the_lists_exists(path: str, repository_root: Path) -> None:
    assert (repository_root / path).exists()


def test_a_service_is_slow_and_one_of_its_kind_stays(request: pytest.FixtureRequest) -> None:
    assert marked(request, "tests/e2e/test_walk.py::test_a", f"{STAY[1]}::test_b") == [
        "tests/e2e/test_walk.py::test_a"
    ]


def test_the_first_cases_of_each_test_stay(request: pytest.FixtureRequest) -> None:
    cases = [f"{FEW_CASES[0]}::test_{name}[{case}]" for name in "ab" for case in range(CASES + 1)]
    assert marked(request, *cases, "tests/core/test_clock.py::test_a") == [cases[CASES], cases[-1]]


def test_of_a_test_with_a_database_the_first_cases_stay(request: pytest.FixtureRequest) -> None:
    items = [
        Item.from_parent(request.session, name=f"t{case}", nodeid=f"tests/core/test_x.py::test_t[{case}]")
        for case in range(CASES + 1)
    ]
    for item in items:
        item.fixturenames = ["serve", "database"]
    mark_slow(list(items))
    assert [item.name for item in items if item.get_closest_marker("slow")] == [f"t{CASES}"]


def test_no_test_is_left_out_when_mutants_are_judged(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "orders.json")
    assert marked(request, "tests/e2e/test_walk.py::test_a") == []
