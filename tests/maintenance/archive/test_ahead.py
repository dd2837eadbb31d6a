"""Values that are made in a thread: the same ones, and none that nobody takes."""

import threading
from collections.abc import Iterator

import pytest

from netautod.maintenance.archive.ahead import ahead


def test_the_values_come_in_their_order() -> None:
    with ahead(range(100)) as values:
        assert list(values) == list(range(100))


def test_an_error_comes_behind_the_values_before_it() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise LookupError("gone")

    taken: list[int] = []

    def take() -> None:
        with ahead(failing()) as values:
            taken.extend(values)

    with pytest.raises(LookupError, match="gone"):
        take()
    assert taken == [1]


def test_whoever_stops_taking_stops_the_making() -> None:
    made: list[int] = []
    threads = threading.active_count()

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield made[-1]

    with ahead(endless()) as values:
        assert next(values) == 0
    assert len(made) < 10
    assert threading.active_count() == threads
