"""Who gives way to a newcomer."""

from collections.abc import Sequence

import pytest

from netautod.http.connections.crowd import Crowd


def crowd_of(*entered: tuple[str, str | None]) -> Crowd[str]:
    made: Crowd[str] = Crowd()
    for name, group in entered:
        made.enter(name, group)
    return made


@pytest.mark.parametrize(
    ("entered", "busy", "heard", "gives_way"),
    [
        pytest.param([], [], [], None, id="nobody is there"),
        pytest.param([("a", "x"), ("b", "x")], [], [], "a", id="the one that came first"),
        pytest.param([("a", "x"), ("b", "x")], [], ["a"], "b", id="the one that was heard longest ago"),
        pytest.param([("a", "y"), ("b", "x"), ("c", "x")], [], [], "b", id="where most are held"),
        pytest.param([("a", "x"), ("b", "x")], ["a"], [], "b", id="not the one that works"),
        pytest.param(
            [("a", "x"), ("b", "x"), ("c", "y")], ["a", "b"], [], "c", id="elsewhere if all work there"
        ),
        pytest.param([("a", "x"), ("b", "y")], ["a", "b"], [], None, id="nobody if all work"),
        pytest.param([("a", None), ("b", None), ("c", "x")], [], [], "c", id="never a proxy"),
        pytest.param([("a", None)], [], [], None, id="not even the last one"),
        pytest.param([("a", "x")], ["a"], ["a"], "a", id="the one whose work is over"),
        pytest.param([("a", "x"), ("b", "y")], [], [], "a", id="of equal addresses the first"),
    ],
)
def test_who_gives_way(
    entered: Sequence[tuple[str, str | None]],
    busy: Sequence[str],
    heard: Sequence[str],
    gives_way: str | None,
) -> None:
    crowd = crowd_of(*entered)
    for name in busy:
        crowd.busy(name)
    for name in heard:
        crowd.silent(name)
    assert crowd.giving_way() == gives_way


def test_those_who_left_are_forgotten() -> None:
    crowd = crowd_of(("a", "x"), ("b", "x"), ("c", "y"), ("d", None))
    for name in ("a", "a", "b", "d", "nobody"):
        crowd.leave(name)
    crowd.silent("a")
    crowd.busy("b")
    assert (len(crowd), crowd.everybody(), crowd.giving_way()) == (1, ["c"], "c")
    crowd.leave("c")
    assert crowd.giving_way() is None
