"""What counts as a piece that moves by itself, and what is an edit: three readings of one line."""

import pytest

from netautod.configs.texts.learned import differing, moving, quiet

BEFORE = ["hostname sw1", "interface eth0", " description uplink"]
AFTER = ["vlan 10", "end"]


@pytest.mark.parametrize(
    ("stored", "first", "second", "shown"),
    [
        pytest.param("packets 1", "packets 5", "packets 9", "packets *", id="a counter"),
        pytest.param(
            "! up 3 hours, 5 minutes",
            "! up 4 hours, 1 minute",
            "! up 4 hours, 2 minutes",
            "! up *",
            id="a span",
        ),
        pytest.param(
            "# nov/30/2026 23:59:58 by RouterOS",
            "# dec/01/2026 00:01:01 by RouterOS",
            "# dec/01/2026 00:01:04 by RouterOS",
            "# * by RouterOS",
            id="a date with slashes around its day",
        ),
        pytest.param(
            "saved 22-Nov-2026 23:59:58",
            "saved 23-Nov-2026 00:01:01",
            "saved 23-Nov-2026 00:01:04",
            "saved *",
            id="a date with the month in its middle",
        ),
        pytest.param("up 1d03h", "up 1d04h", "up 1d05h", "up *", id="a short span"),
        pytest.param(
            "# Sat Nov 21 06:45:01 2026",
            "# Sun Nov 22 07:00:00 2026",
            "# Sun Nov 22 07:00:03 2026",
            "# *",
            id="a clock with its date",
        ),
        pytest.param(
            "at 2026-11-21T06:45:01Z",
            "at 2026-11-22T01:00:00Z",
            "at 2026-11-22T01:00:04Z",
            "at *",
            id="ISO 8601",
        ),
        pytest.param(
            " 3082022B A0030201", " 3082022C A0030201", " 3082022D A0030201", " * A0030201", id="hexadecimal"
        ),
        pytest.param("sum 0xdead", "sum 0xbeef", "sum 0xcafe", "sum *", id="hexadecimal of letters alone"),
    ],
)
def test_what_moves_in_three_readings_is_learned(stored: str, first: str, second: str, shown: str) -> None:
    readings = [[*BEFORE, line, *AFTER] for line in (stored, first, second)]
    rules = moving(*readings)
    assert [rule.shown for rule in rules] == [shown]
    later = [*BEFORE, stored, *AFTER]
    assert {differing(quiet(later, rules), quiet(reading, rules)) for reading in readings} == {0}


@pytest.mark.parametrize(
    ("stored", "first", "second"),
    [
        pytest.param("vlan 10", "vlan 11", "vlan 11", id="an edit is the same in both readings"),
        pytest.param("vlan 10", "vlan 10", "vlan 11", id="two readings are not enough"),
        pytest.param("state 1", "state 0", "state 1", id="it came back"),
        pytest.param("state up 1", "state down 2", "state up 3", id="other words"),
        pytest.param("name alpha", "name beta", "name gamma", id="words alone"),
        pytest.param("name add", "name bad", "name fade", id="words of letters that hexadecimal has"),
        pytest.param("a 1 2", "a 2 3", "a 3 2", id="another number of the line came back"),
        pytest.param("", "packets 5", "packets 9", id="a line that was added"),
        pytest.param("packets 1", "packets 5", "", id="a line that was removed"),
        pytest.param("packets 1", "packets 5 6", "packets 9", id="another number of numbers"),
    ],
)
def test_an_edit_is_never_learned(stored: str, first: str, second: str) -> None:
    readings = [[*BEFORE, *([line] if line else []), *AFTER] for line in (stored, first, second)]
    assert moving(*readings) == []


def test_only_the_piece_that_moves_is_noise() -> None:
    rules = moving(["acl 5 hits 1"], ["acl 5 hits 2"], ["acl 5 hits 3"])
    assert differing(quiet(["acl 5 hits 1"], rules), quiet(["acl 6 hits 1"], rules)) == 1
    # An edit of the number beside it, at the very time that it is learned, counts as well.
    rules = moving(["acl 5 hits 1"], ["acl 6 hits 2"], ["acl 6 hits 3"])
    assert [rule.shown for rule in rules] == ["acl 6 hits *"]
    assert differing(quiet(["acl 5 hits 1"], rules), quiet(["acl 6 hits 2"], rules)) == 1


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(["if a", " load 4", "if b", " load 8"], id="the same words under another line"),
        pytest.param(["if a", " load 4", " load 4", "if b", " load 7"], id="a line that was added"),
        pytest.param(["if a", "if b", " load 7"], id="a line that was removed"),
        pytest.param(["if a", " load 4 7", "if b", " load 7"], id="more words"),
    ],
)
def test_what_is_learned_holds_at_its_place_alone(edited: list[str]) -> None:
    rules = moving(*(["if a", f" load {number}", "if b", " load 7"] for number in (1, 2, 3)))
    assert [rule.shown for rule in rules] == [" load *"]
    known = ["if a", " load 1", "if b", " load 7"]
    assert differing(quiet(known, rules), quiet(edited, rules)) > 0


def test_one_of_several_equal_looking_lines() -> None:
    rules = moving(*([f"seq {number}", "seq 50", "seq 60"] for number in (1, 2, 3)))
    assert quiet(["seq 9", "seq 50", "seq 60"], rules) == ["seq *", "seq 50", "seq 60"]
    assert quiet(["seq 9", "seq 50", "seq 60", "seq 70"], rules) == ["seq 9", "seq 50", "seq 60", "seq 70"]
