"""Names: who gets one that several want, and renames that never give one name to two devices."""

import random

import pytest

from netautod.network.inventory.sync.names import NameClaim, losers, waves
from tests.support.tables import over


@over(
    ("claims", "foreign", "out"),
    [
        pytest.param([("1", "a", None), ("2", "a", None)], set(), {"2"}, id="the first of two"),
        pytest.param([("1", "a", None), ("2", "a", "a")], set(), {"1"}, id="who has it already"),
        pytest.param([("1", "a", None)], {"a"}, {"1"}, id="nobody gets a foreign one"),
        pytest.param([("1", "b", "a"), ("2", "a", "b")], set(), set(), id="a swap"),
        pytest.param([("1", "b", "a"), ("2", "c", "b")], {"c"}, {"1", "2"}, id="a chain that is stuck"),
        pytest.param(
            [("1", "b", "a"), ("2", "c", "b"), ("3", "x", "c"), ("4", "a", None)],
            {"x"},
            {"1", "2", "3", "4"},
            id="a long chain that is stuck takes the new one along",
        ),
    ],
)
def test_who_goes_without(
    claims: list[tuple[str, str, str | None]], foreign: set[str], out: set[str]
) -> None:
    found = losers(
        [NameClaim(id=i, wanted=wanted, current=current) for i, wanted, current in claims], foreign
    )
    assert found == out


@over("seed", range(40))
def test_no_name_is_given_twice_whatever_is_wanted(seed: int) -> None:
    chosen = random.Random(seed)
    names = [f"n{number}" for number in range(12)]
    foreign = set(chosen.sample(names, 3))
    free = [name for name in names if name not in foreign]
    claims = [
        NameClaim(id=str(number), wanted=chosen.choice(names), current=current)
        for number, current in enumerate([*chosen.sample(free, 6), None, None, None])
    ]
    out = losers(claims, foreign)
    final = [claim.current if claim.id in out else claim.wanted for claim in claims]
    given = [name for name in final if name is not None]
    assert len({*given, *foreign}) == len(given) + len(foreign)


def renamed(moves: dict[str, tuple[str, str]]) -> tuple[dict[str, str], int]:
    """Does the waves, and holds that after each single step no name is there twice; the names, the waves."""
    names = {device_id: old for device_id, (old, _) in moves.items()}
    done = waves(moves)
    for wave in done:
        for step in random.Random(1).sample(wave, len(wave)):
            assert step.name not in names.values()
            assert len(step.name) <= 255
            names[step.device_id] = step.name
    return names, len(done)


@over(
    ("moves", "most"),
    [
        pytest.param({}, 0, id="nothing"),
        pytest.param({"1": ("a", "b"), "2": ("c", "d")}, 1, id="free names, at once"),
        pytest.param({"1": ("a", "b"), "2": ("b", "c")}, 2, id="a chain, from its end"),
        pytest.param({"1": ("a", "b"), "2": ("b", "a")}, 3, id="a swap, with a parked device"),
        pytest.param({"1": ("a", "b"), "2": ("b", "c"), "3": ("c", "a")}, 4, id="a circle of three"),
        pytest.param({"1": ("a" * 255, "b" * 255), "2": ("b" * 255, "a" * 255)}, 3, id="the longest names"),
        pytest.param(
            {
                **{str(n): (f"a{n}", f"b{n}") for n in range(50)},
                **{f"x{n}": (f"b{n}", f"a{n}") for n in range(50)},
            },
            3,
            id="many swaps take no more waves than one",
        ),
    ],
)
def test_waves(moves: dict[str, tuple[str, str]], most: int) -> None:
    names, count = renamed(moves)
    assert names == {device_id: new for device_id, (_, new) in moves.items()}
    assert count == most


@over("seed", range(20))
def test_any_permutation_is_reached(seed: int) -> None:
    names = [f"n{number}" for number in range(15)]
    targets = random.Random(seed).sample(names, len(names))
    moves = {name: (name, new) for name, new in zip(names, targets, strict=True) if name != new}
    assert renamed(moves)[0] == {device_id: new for device_id, (_, new) in moves.items()}
