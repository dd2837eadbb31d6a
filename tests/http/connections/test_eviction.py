"""The connection that is evicted for a new one."""

from collections.abc import Sequence

import pytest

from netautod.http.connections.eviction import ConnectionTable


def table_of(*entered: tuple[str, str | None]) -> ConnectionTable[str]:
    made: ConnectionTable[str] = ConnectionTable()
    for name, group in entered:
        made.add(name, group)
    return made


@pytest.mark.parametrize(
    ("entered", "busy", "active", "evicted"),
    [
        pytest.param([], [], [], None, id="no connection"),
        pytest.param([("a", "x"), ("b", "x")], [], [], "a", id="the one that came first"),
        pytest.param([("a", "x"), ("b", "x")], [], ["a"], "b", id="the one that was active longest ago"),
        pytest.param([("a", "y"), ("b", "x"), ("c", "x")], [], [], "b", id="where most are held"),
        pytest.param([("a", "x"), ("b", "x")], ["a"], [], "b", id="not the one that works"),
        pytest.param(
            [("a", "x"), ("b", "x"), ("c", "y")], ["a", "b"], [], "c", id="elsewhere if all work there"
        ),
        pytest.param([("a", "x"), ("b", "y")], ["a", "b"], [], None, id="none if all work"),
        pytest.param([("a", None), ("b", None), ("c", "x")], [], [], "c", id="never a proxy"),
        pytest.param([("a", None)], [], [], None, id="not even the last one"),
        pytest.param([("a", "x")], ["a"], ["a"], "a", id="the one whose work is over"),
        pytest.param([("a", "x"), ("b", "y")], [], [], "a", id="of equal addresses the first"),
    ],
)
def test_which_one_is_evicted(
    entered: Sequence[tuple[str, str | None]],
    busy: Sequence[str],
    active: Sequence[str],
    evicted: str | None,
) -> None:
    table = table_of(*entered)
    for name in busy:
        table.busy(name)
    for name in active:
        table.idle(name)
    assert table.candidate() == evicted


def test_removed_ones_are_forgotten() -> None:
    table = table_of(("a", "x"), ("b", "x"), ("c", "y"), ("d", None))
    for name in ("a", "a", "b", "d", "unknown"):
        table.remove(name)
    table.idle("a")
    table.busy("b")
    assert (len(table), table.all(), table.candidate()) == (1, ["c"], "c")
    table.remove("c")
    assert table.candidate() is None
