"""The lists of If-Match and If-None-Match, as clients and attackers send them."""

import sys

import pytest

from netautod.core.errors import InvalidInput
from netautod.http.conditions.tags import EVERY, EntityTags, listed_tags, tag_of


@pytest.mark.parametrize(
    ("text", "strong", "weak"),
    [
        pytest.param('"a"', {'"a"'}, set(), id="one"),
        pytest.param('""', {'""'}, set(), id="an empty one is one"),
        pytest.param('"a", W/"b" ,\t"c"', {'"a"', '"c"'}, {'"b"'}, id="several"),
        pytest.param('"a,b"', {'"a,b"'}, set(), id="a comma inside"),
        pytest.param(',, "a" ,,', {'"a"'}, set(), id="empty elements, as RFC 9110 5.6.1.2 wants it"),
        pytest.param('"\\"', {'"\\"'}, set(), id="a backslash escapes nothing"),
        pytest.param('"\xe9\xff"', {'"\xe9\xff"'}, set(), id="obs-text"),
    ],
)
def test_a_list_is_read(text: str, strong: set[str], weak: set[str]) -> None:
    assert listed_tags("If-Match", text) == EntityTags(strong=frozenset(strong), weak=frozenset(weak))


@pytest.mark.parametrize("text", ["*", " * ", "\t*"])
def test_a_star_means_every_one(text: str) -> None:
    assert listed_tags("If-Match", text) == EVERY


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", ",", "abc", '"abc', 'abc"', '"a" "b"', '"a"b', '"a";"b"', "'a'", '*, "a"', '"a", *'),
        *('w/"a"', 'W/ "a"', 'W "a"', "W/*", '"a b"', '"a\tb"', '"a\x00"', '"a\x7f"', '"\u20ac"', "**"),
    ],
)
def test_what_is_no_list_is_refused_by_the_name_of_the_header(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^If-None-Match: "):
        listed_tags("If-None-Match", text)


@pytest.mark.parametrize(
    "piece", [" ", "\t ", ",", ", ", '"a" ', '"a",', 'W/"a",', "W/", '"', 'W/"', ' "a" , ', "*,"]
)
def test_reading_takes_a_step_for_each_piece(piece: str) -> None:
    """Count calls instead of time: twice the text takes at most twice the calls, with a bad end, too."""

    def calls(text: str) -> int:
        count = 0

        def traced(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(traced)
        try:
            listed_tags("If-Match", text)
        except InvalidInput:
            pass
        finally:
            sys.setprofile(None)
        return count

    assert calls(piece * 2000 + "x") <= 2 * calls(piece * 1000 + "x") + 10


def test_weak_tags_never_match_strongly() -> None:
    tags = listed_tags("If-Match", 'W/"a", "b"')
    assert not tags.match_strongly('"a"')
    assert not tags.match_strongly('W/"a"')
    assert not tags.match_strongly('W/"b"')
    assert tags.match_strongly('"b"')
    assert tags.match_weakly('"a"')
    assert tags.match_weakly('W/"a"')
    assert tags.match_weakly('W/"b"')
    assert not tags.match_weakly('"c"')


def test_a_tag_is_of_the_bytes_and_not_of_how_they_are_cut() -> None:
    assert tag_of([b"ab", b"c"]) == tag_of([b"abc"]) != tag_of([b"abd"])
    assert listed_tags("If-Match", tag_of([b"abc"])).match_strongly(tag_of([b"abc"]))
