"""What counts as a piece that moves by itself, and what is an edit: three readings of one line."""

import pytest

from netautod.network.configs.texts.learned_noise import Rule, differing, judged, moving, on_trial, quiet

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
        pytest.param("up 3w2d04:05:06", "up 3w2d05:06:07", "up 3w2d05:06:08", "up *", id="a joined span"),
        pytest.param("up 3.02:03:04", "up 3.05:01:07", "up 3.05:01:08", "up *", id="days and a point"),
        pytest.param("sent 1,234,567", "sent 1,235,001", "sent 1,235,002", "sent *", id="thousands"),
        pytest.param(
            "md5 0a:1b:2c:3d", "md5 11:1b:aa:00", "md5 12:2c:aa:01", "md5 *", id="octets, some of them equal"
        ),
        pytest.param("10:532 hits", "10:540 hits", "10:541 hits", "10:* hits", id="a number joined to one"),
        pytest.param("10 5 minutes", "10 6 minutes", "10 7 minutes", "10 *", id="a number before a time"),
        pytest.param("gi1/0/1,5", "gi1/0/1,6", "gi1/0/1,7", "gi1/0/1,*", id="a counter of an interface"),
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
        pytest.param("vlan 10", "vlan 10", "vlan 20", id="an edit between the readings"),
        pytest.param("vlan 10", "vlan 20", "vlan 10", id="an edit between the readings that is taken back"),
        pytest.param("class Mon", "class Tue", "class Wed", id="names of days alone"),
        pytest.param("class Market 5", "class March 6", "class Marble 7", id="words that begin like months"),
        pytest.param("x" * 5000 + " 1", "x" * 5000 + " 2", "x" * 5000 + " 3", id="a line without end"),
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


NEIGHBOURS = [
    pytest.param("ntp server 10.0.0.{}", "ntp server 10.0.0.50", "ntp server 10.0.0.60", id="addresses"),
    pytest.param("interface Gi1/0/{}", "interface Gi1/0/50", "interface Gi1/0/60", id="interfaces"),
    pytest.param(" {} permit ip any any", " 50 permit ip any any", " 60 permit ip any any", id="sequences"),
    pytest.param(" 10 permit any ({} hits)", " 50 permit any (7 hits)", " 60 permit any (7 hits)", id="hits"),
    pytest.param("vlan {}", "vlan 50", "vlan 60", id="vlans"),
    pytest.param("10:{}", "50:7", "60:7", id="joined numbers"),
    pytest.param("seq 10 {} minutes", "seq 50 7 minutes", "seq 60 7 minutes", id="times"),
]


@pytest.mark.parametrize("first", [True, False], ids=["above", "below"])
@pytest.mark.parametrize(("moves", "stays", "edited"), NEIGHBOURS)
def test_an_edit_of_a_neighbour_is_a_change(moves: str, stays: str, edited: str, *, first: bool) -> None:
    def text(number: int, other: str) -> list[str]:
        pair = [moves.format(number), other]
        return [*BEFORE, *(pair if first else pair[::-1]), *AFTER]

    rules = moving(*(text(number, stays) for number in (1, 2, 3)))
    assert len(rules) == 1
    known = quiet(text(3, stays), rules)
    assert differing(known, quiet(text(9, stays), rules)) == 0
    assert differing(known, quiet(text(9, edited), rules)) == 1
    swapped = [other for other in text(9, stays) if other != stays]
    assert differing(known, quiet([*swapped, stays], rules)) > 0  # it has moved
    assert differing(known, quiet(swapped, rules)) > 0
    assert differing(known, quiet([*text(9, stays), stays], rules)) > 0


def test_what_stands_under_a_line_that_moves_is_learned_too() -> None:
    def text(number: int, user: str = "ann") -> list[str]:
        return [f"session {number}", f" of {user}", f"  octets {number * 7}", "end"]

    rules = moving(*map(text, (1, 2, 3)))
    assert [rule.shown for rule in rules] == ["session *", "  octets *"]
    known = [Rule.of_json(rule.to_json()) for rule in rules]
    assert quiet(text(4), known) == ["session *", " of ann", "  octets *", "end"]
    assert differing(quiet(text(4), known), quiet(text(5, "bob"), known)) > 0


def test_what_two_edits_in_one_capture_have_taught_is_forgotten_at_the_next_one() -> None:
    stored, first, second = (["vlan 1", line, "end"] for line in ("mtu 1500", "mtu 1600", "mtu 1700"))
    rules = moving(stored, first, second)
    assert on_trial(rules, second)
    assert judged(rules, stored, second, second) == []
    assert judged(rules, stored, stored, stored) == rules  # back where it was: it is not known more of it
    assert on_trial(judged(rules, stored, stored, stored), second)


@pytest.mark.parametrize("later", [("sent 6", "sent 7"), ("sent 3", "sent 4"), ("sent 4", "sent 3")])
def test_what_moves_on_is_proven(later: tuple[str, str]) -> None:
    rules = moving(["sent 1"], ["sent 2"], ["sent 3"])
    (proven,) = judged(rules, ["sent 1"], *([line] for line in later))
    assert not on_trial([proven], ["sent 3"])
    # From then on it may stand still.
    assert judged([proven], ["sent 1"], ["sent 3"], ["sent 3"]) == [proven]


@pytest.mark.parametrize("line", ["1 " * 50_000, "1" * 100_000, "1a" * 50_000 + "g", "1d" * 50_000])
def test_a_line_without_end_is_looked_at_by_nobody(line: str) -> None:
    assert moving(["a 1", line], ["a 2", f"{line} 2"], ["a 3", f"{line} 3"])[0].shown == "a *"


@pytest.mark.timeout(20)
def test_pieces_that_could_be_read_in_many_ways_are_read_in_one() -> None:
    lines = ["5 days 5 x " * 30 + f"{number}" for number in (1, 2, 3)]
    rules = moving(*([line] for line in lines))
    assert quiet([lines[0] + "!"], rules) == [lines[0] + "!"]
