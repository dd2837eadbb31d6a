"""The diff in two columns: rows that go together, the words that changed, the section of each hunk."""

import random

import pytest

from netautod.network.configs.texts.diff import Lines, unified
from netautod.network.configs.texts.sections import enclosing
from netautod.network.configs.texts.side_by_side import Row, SideBySide, side_by_side
from netautod.network.configs.texts.word_diff import changed_words, paired


def lines(text: list[str]) -> Lines:
    return Lines(compared=text, shown=text)


def compared(old: list[str], new: list[str], *, context: int = 3) -> SideBySide:
    return side_by_side(lines(old), lines(new), context=context)


def marked(text: str, words: list[tuple[int, int]]) -> str:
    """The text with brackets around the words."""
    for start, end in reversed(words):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("old", "new", "old_marked", "new_marked"),
    [
        (" mtu 1500", " mtu 9216", " mtu [1500]", " mtu [9216]"),
        (
            "ip address 10.0.0.1/24",
            "ip address 10.0.0.2/24",
            "ip address [10.0.0.1/24]",
            "ip address [10.0.0.2/24]",
        ),
        (" shutdown", " no shutdown", " shutdown", " [no ]shutdown"),
        ("vlan 10,20", "vlan 10,20,30", "vlan 10,20", "vlan 10,20[,30]"),
        (" description a  b", " description a b", " description a[  ]b", " description a[ ]b"),
        ("set x family inet", "set x family inet6", "set x family [inet]", "set x family [inet6]"),
        (
            "neighbor 10.0.0.1 remote-as 1",
            "neighbor 10.0.0.1 remote-as 2",
            "neighbor 10.0.0.1 remote-as [1]",
            "neighbor 10.0.0.1 remote-as [2]",
        ),
        ("   mode trunk;", "   mode access;", "   mode [trunk];", "   mode [access];"),
        ("name \u00fcber", "name \u00e4ndern", "name [\u00fcber]", "name [\u00e4ndern]"),
        ("", "x", "", "[x]"),
        ("x", "", "[x]", ""),
        ("same", "same", "same", "same"),
    ],
)
def test_the_words_that_changed(old: str, new: str, old_marked: str, new_marked: str) -> None:
    old_words, new_words = changed_words(old, new)
    assert (marked(old, old_words), marked(new, new_words)) == (old_marked, new_marked)


def test_an_endless_line_has_changed_as_a_whole() -> None:
    old, new = "a " * 5000, "a " * 4999 + "b "
    assert changed_words(old, new) == ([(0, len(old))], [(0, len(new))])


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        pytest.param(["a x"], ["a y"], [(0, 0)], id="one became the other"),
        pytest.param(["mtu 9000"], ["no ip redirects"], [(0, None), (None, 0)], id="nothing in common"),
        pytest.param(
            ["ip a 1", "mtu 1"], ["speed 9", "ip a 2", "mtu 2"], [(None, 0), (0, 1), (1, 2)], id="one more"
        ),
        pytest.param(["d x", "ip a 1"], ["ip a 2"], [(0, None), (1, 0)], id="one less"),
        pytest.param(["a 1", "b 1"], ["b 2", "a 2"], [(0, None), (1, 0), (None, 1)], id="moved past it"),
        pytest.param([], ["a"], [(None, 0)], id="all new"),
        pytest.param(["a"], [], [(0, None)], id="all gone"),
        pytest.param([""], [""], [(0, 0)], id="empty lines"),
    ],
)
def test_lines_that_go_together(
    old: list[str], new: list[str], pairs: list[tuple[int | None, int | None]]
) -> None:
    found = paired(old, new)
    assert sorted(found, key=str) == sorted(pairs, key=str)


def test_a_large_block_is_replaced_without_a_search_for_likeness() -> None:
    old, new = [f"a {number}" for number in range(200)], [f"a {number}" for number in range(200, 400)]
    found = paired(old, new)
    assert found == [*((at, None) for at in range(200)), *((None, at) for at in range(200))]


IOS = [
    "hostname sw1",
    "!",
    "interface Gi0/1",
    " description a",
    "!",
    " mtu 1500",
    "!",
    "router bgp 1",
    " address-family ipv4",
    "  neighbor 10.0.0.1 activate",
    " exit-address-family",
    "!",
    "end",
]
JUNOS = [
    "interfaces {",
    "    ge-0/0/0 {",
    "        unit 0 {",
    "            family inet;",
    "        }",
    "    }",
    "}",
]
VRP = ["#", "interface Vlanif1", " ip address 10.0.0.1", "#", "return"]
FORTI = ["config system interface", '    edit "port1"', "        set ip 10.0.0.1", "    next", "end"]
TABS = ["\tone", "two", "\tthree", "\t\tfour"]


@pytest.mark.parametrize(
    ("text", "at", "section"),
    [
        pytest.param(IOS, 0, [], id="at the left"),
        pytest.param(IOS, 3, [2], id="in an interface"),
        pytest.param(IOS, 5, [2], id="behind a separator"),
        pytest.param(IOS, 9, [7, 8], id="in a family of a router"),
        pytest.param(IOS, 10, [7], id="the end of the family"),
        pytest.param(IOS, 11, [7], id="a separator belongs to what is before it"),
        pytest.param(IOS, 12, [], id="the last line"),
        pytest.param(JUNOS, 3, [0, 1, 2], id="in braces"),
        pytest.param(JUNOS, 4, [0, 1], id="a closing brace"),
        pytest.param(VRP, 2, [1], id="VRP"),
        pytest.param(FORTI, 2, [0, 1], id="FortiOS"),
        pytest.param(TABS, 3, [1, 2], id="tabs"),
        pytest.param(TABS, 0, [], id="nothing is above it"),
        pytest.param(["", " x"], 1, [], id="an empty line encloses nothing"),
        pytest.param(["", ""], 1, [], id="nothing at all"),
    ],
)
def test_what_encloses_a_line(text: list[str], at: int, section: list[int]) -> None:
    assert enclosing(text, at) == section


def test_a_hunk_shows_both_sides_and_its_section() -> None:
    old = ["interface Gi0/1", " description a", " mtu 1500", " duplex full", " speed 1000", "end"]
    new = [
        "interface Gi0/1",
        " description a",
        " mtu 9216",
        " duplex full",
        " speed 1000",
        " shutdown",
        "end",
    ]
    found = compared(old, new, context=1)
    assert (found.additions, found.deletions, found.hidden) == (2, 1, 0)
    assert [list(hunk.section) for hunk in found.hunks] == [["interface Gi0/1"]]
    first = found.hunks[0]
    assert first.rows[1] == Row(
        kind="changed",
        old_line=3,
        old_text=" mtu 1500",
        new_line=3,
        new_text=" mtu 9216",
        old_words=[(5, 9)],
        new_words=[(5, 9)],
    )
    assert [row.kind for row in first.rows] == ["same", "changed", "same", "same", "added", "same"]
    assert first.rows[4] == Row(kind="added", new_line=6, new_text=" shutdown")


def test_the_section_of_what_is_taken_away_is_the_old_one() -> None:
    old = ["interface Gi0/1", " shutdown", "interface Gi0/2", " mtu 9"]
    found = compared(old, [old[0], old[2], old[3]], context=0)
    [hunk] = found.hunks
    assert (list(hunk.section), hunk.rows[0].kind) == (["interface Gi0/1"], "removed")


def test_a_secret_that_is_not_shown_has_changed_without_words() -> None:
    shown = [" key <hidden>"]
    old, new = (Lines(compared=[f" key {token}"], shown=shown) for token in ("t1", "t2"))
    [row] = side_by_side(old, new, context=3).hunks[0].rows
    assert (row.kind, row.old_words, row.new_words) == ("changed", [], [])


def test_what_is_too_long_is_counted_and_not_shown() -> None:
    old = [f"{number} same" for number in range(100)]
    new = [line if number % 20 else "x" * 50 for number, line in enumerate(old)]
    found = side_by_side(lines(old), lines(new), context=0, most_characters=130)
    assert (len(found.hunks), found.hidden, found.additions, found.deletions) == (2, 3, 5, 5)


@pytest.mark.parametrize("context", [0, 1, 3, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_both_columns_are_the_texts(seed: int, context: int) -> None:
    """Whatever is compared: the rows name each changed line of both texts once, in order, as it is there."""
    dice = random.Random(seed)
    old = [
        " " * dice.randrange(3) + dice.choice(["mtu", "ip a", "!"]) + f" {dice.randrange(40)}"
        for _ in range(200)
    ]
    new = [line for line in old if dice.random() > 0.1]
    for _ in range(20):
        new[dice.randrange(len(new))] = f" new {dice.randrange(1000)}"
    found = compared(old, new, context=context)
    whole = unified(lines(old), lines(new), old_name="a", new_name="b", context=context)
    assert (found.additions, found.deletions) == (whole.additions, whole.deletions)
    rows = [row for hunk in found.hunks for row in hunk.rows]
    for numbers, texts, source in (
        ([row.old_line for row in rows], [row.old_text for row in rows], old),
        ([row.new_line for row in rows], [row.new_text for row in rows], new),
    ):
        known = [number for number in numbers if number is not None]
        assert known == sorted(set(known))
        assert [text for text in texts if text is not None] == [source[number - 1] for number in known]
    kinds = [row.kind for row in rows]
    changed = kinds.count("changed")
    assert (kinds.count("added") + changed, kinds.count("removed") + changed) == (
        found.additions,
        found.deletions,
    )
    assert len(found.hunks) == whole.text.count("\n@@ ")
    if context == 1000:
        assert [row.new_text for row in rows if row.new_text is not None] == new


@pytest.mark.parametrize("context", [0, 1, 2, 5])
def test_a_unified_diff_with_less_or_more_context(context: int) -> None:
    old = [f"line {number}" for number in range(1, 41)]
    new = [*old[:19], "changed", *old[20:]]
    found = unified(lines(old), lines(new), old_name="a", new_name="b", context=context)
    body = found.text.split("\n")[3:-1]
    assert [line[0] for line in body] == [*[" "] * context, "-", "+", *[" "] * context]
