"""A test over a table tells of each row that fails, and cannot pass without rows."""

import inspect

import pytest

from tests.support.tables import over


def test_every_row_that_fails_is_told() -> None:
    rows = [(1, 1), (1, 2), pytest.param(3, 4, id="named"), (5, 5)]
    asked = []

    @over("one, other", rows)
    def equal(one: int, other: int) -> None:
        asked.append(one)
        assert one == other

    with pytest.raises(AssertionError, match="2 of 4 rows failed") as told:
        equal()
    assert "(1, 2): AssertionError" in str(told.value)
    assert "named: AssertionError" in str(told.value)
    assert asked == [1, 1, 3, 5]


def test_an_error_that_did_not_come_is_told_with_its_row() -> None:
    @over("text", ["x", "1"])
    def is_no_number(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(AssertionError, match="1 of 2 rows failed\n\n'1': Failed: DID NOT RAISE"):
        is_no_number()


def test_fixtures_and_other_tables_are_left() -> None:
    seen = []

    @over("low", [1, 2])
    @over("high", [3, 4])
    def noted(low: int, high: int, fixture: str) -> None:
        seen.append((low, high, fixture))

    assert list(inspect.signature(noted).parameters) == ["fixture"]
    noted(fixture="f")
    assert seen == [(1, 3, "f"), (1, 4, "f"), (2, 3, "f"), (2, 4, "f")]


def test_a_table_without_rows_or_with_others_is_refused() -> None:
    with pytest.raises(AssertionError, match="a test over no text"):
        over("text", [])
    with pytest.raises(AssertionError, match="must take"):
        over("text", ["a"])(lambda other: None)
    with pytest.raises(AssertionError, match=r"\(1, 2, 3\)"):
        over("one, other", [(1, 2, 3)])
