"""One test over a table: what pytest does for each parameter set takes longer than most rows."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

SHOWN = 20  # of the rows that failed
SECONDS = 600  # of a hang; a row alone has those of .pytest.ini
# What pytest.raises and pytest.fail raise is no Exception.
FAILURES = (Exception, pytest.fail.Exception)
Test = Callable[..., None]


def over(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """As pytest.mark.parametrize, but all rows are one test, which tells of each row that failed.

    For functions that change nothing: whatever fixtures they take serve all rows.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_values(row, len(keys)) for row in rows]
    assert table, f"a test over no {', '.join(keys)} proves nothing"

    def decorated(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test), "its rows would be coroutines that nobody awaits"

        @functools.wraps(test)
        def whole(**fixtures: Any) -> None:
            failed = list[tuple[str, BaseException]]()
            for told, values in table:
                try:
                    test(**fixtures, **dict(zip(keys, values, strict=True)))
                except FAILURES as error:  # the other rows are told of, too
                    failed.append((told, error))
            if failed:
                texts = [f"{told}: {type(error).__name__}: {error}" for told, error in failed[:SHOWN]]
                head = f"{len(failed)} of {len(table)} rows failed"
                raise AssertionError("\n\n".join([head, *texts])) from failed[0][1]

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in keys]
        assert len(left) + len(keys) == len(signature.parameters), f"{test.__name__} must take {keys}"
        whole.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        marked: Test = pytest.mark.timeout(SECONDS)(whole)
        return marked

    return decorated


def _values(row: Any, count: int) -> tuple[str, tuple[Any, ...]]:
    """How a row is told, and its values; it may be a pytest.param."""
    name = getattr(row, "id", None) if hasattr(row, "marks") else None
    values = tuple(row.values) if hasattr(row, "marks") else (row,) if count == 1 else tuple(row)
    assert len(values) == count, row
    return str(name) if name else repr(values if count > 1 else values[0])[:200], values
