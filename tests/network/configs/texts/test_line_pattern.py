"""Lines that match a text or a pattern: numbers, contents, and what belongs to a line."""

import pytest

from netautod.core.errors import InvalidInput
from netautod.network.configs.texts.line_pattern import LineQuery, matcher_of

TEXT = "hostname Sw1\n!\ninterface a\n mtu 9000\n!\n\nbanner Grüße\nend\n"


@pytest.mark.parametrize(
    ("text", "is_pattern", "numbers"),
    [
        pytest.param("sw1", False, [1], id="a plain text, any case"),
        pytest.param("GRÜSSE", False, [7], id="letters that are folded into two"),
        pytest.param("e", False, [1, 3, 7, 8], id="a letter on many lines"),
        pytest.param("GRÜ", False, [7], id="case of other letters than ASCII"),
        pytest.param(".", False, [], id="a plain text is no pattern"),
        pytest.param("sw1", True, [], id="a pattern minds the case"),
        pytest.param("(?i)sw1", True, [1], id="unless it says otherwise"),
        pytest.param("^!$", True, [2, 5], id="anchors are those of a line"),
        pytest.param("^$", True, [6], id="an empty line, and none at the end"),
        pytest.param("x*", True, [1, 2, 3, 4, 5, 6, 7, 8], id="what matches nothing matches each line once"),
        pytest.param("a\\s+mtu", True, [], id="white space is no line break"),
        pytest.param("(?s)a.*9000", True, [], id="not even with (?s)"),
        pytest.param("[^x]mtu", True, [4], id="nor is a negated class"),
        pytest.param("e.*e", True, [3, 7], id="several matches in a line are one"),
        pytest.param("end$|^hostname", True, [1, 8], id="the first and the last line"),
        pytest.param("(?-m)^.*$", True, [], id="anchors of the text belong to no line"),
    ],
)
def test_numbers_of_lines(text: str, is_pattern: bool, numbers: list[int]) -> None:
    lines = TEXT.removesuffix("\n").split("\n")
    found = list(matcher_of(LineQuery(text=text, is_pattern=is_pattern)).lines(TEXT.encode()))
    assert found == [(number, lines[number - 1].encode()) for number in numbers]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("", [(1, b"")], id="an empty text"),
        pytest.param("a", [(1, b"a")], id="no line feed at the end"),
        pytest.param("\n\n", [(1, b""), (2, b"")], id="empty lines only"),
    ],
)
def test_the_ends_of_a_text(text: str, lines: list[tuple[int, bytes]]) -> None:
    letters = [line for line in lines if line[1]]
    assert list(matcher_of(LineQuery(text="A", is_pattern=False)).lines(text.encode())) == letters
    assert list(matcher_of(LineQuery(text="x*", is_pattern=True)).lines(text.encode())) == lines


def test_a_pattern_that_is_none_is_refused_and_nothing_is_said_on_stderr(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(InvalidInput, match="regex: "):
        matcher_of(LineQuery(text="(", is_pattern=True))
    assert capfd.readouterr().err == ""
