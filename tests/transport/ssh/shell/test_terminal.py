"""Received bytes become the lines that a terminal would show."""

import pytest

from netautod.transport.ssh.shell.terminal import clean, unfinished_escape, visible, without_escapes


@pytest.mark.parametrize(
    ("received", "shown"),
    [
        pytest.param(b"one\r\ntwo\r\n", "one\ntwo\n", id="CRLF becomes LF"),
        pytest.param(b"one\r\r\ntwo", "one\ntwo", id="a doubled carriage return is no character"),
        pytest.param(b"one\n\rtwo", "one\ntwo", id="LF CR of old devices"),
        pytest.param(b"\x1b[1;31mred\x1b[0m line", "red line", id="colours are off"),
        pytest.param(b"\x1b]0;title\x07sw1#", "sw1#", id="a window title is off"),
        pytest.param(b"a\x00b\x00\x00c", "abc", id="NUL is off"),
        pytest.param(b"caf\xe9", "caf\udce9", id="a byte that is no UTF-8 is carried"),
        pytest.param(b"\x00caf\xe9\r\nx", "caf\udce9\nx", id="between control characters, too"),
        pytest.param(b"a  \x00\r\nb\t\r\n", "a  \nb\t\n", id="blanks and a tab at the end of a line"),
        pytest.param(b"banner motd \x03Hi\x03", "banner motd \x03Hi\x03", id="the ETX around a banner"),
        pytest.param(b"one\x0ctwo\x0bthree\x1a", "one\x0ctwo\x0bthree\x1a", id="page breaks within a line"),
        pytest.param(b"\x0csw1#", "sw1#", id="a page break that clears the screen"),
        pytest.param("a\u2028b\u0085c\x1cd".encode(), "a\u2028b\u0085c\x1cd", id="other line ends"),
        pytest.param(
            b" --More-- " + b"\b" * 9 + b" " * 8 + b"\b" * 9 + b"description x  ",
            "description x  ",
            id="blanks at the end of the line behind an erased pager",
        ),
        pytest.param("caf\u00e9".encode(), "caf\u00e9", id="valid UTF-8 stays"),
        pytest.param(b"a\tb  ", "a\tb  ", id="tabs and blanks of the text stay"),
        pytest.param(
            b" --More-- " + b"\b" * 9 + b" " * 8 + b"\b" * 9 + b" ip address",
            " ip address",
            id="the pager of IOS, erased by backspaces",
        ),
        pytest.param(
            b" --More-- " + b"\b" * 9 + b" " * 8 + b"\b" * 9 + b"!",
            "!",
            id="a line shorter than the erased pager",
        ),
        pytest.param(b"--More--\r        \rnext", "next", id="a pager erased by carriage returns"),
        pytest.param(b"--More--\r\x1b[Knext", "next", id="a pager erased by EL"),
        pytest.param(b"--More--\x1b[8D\x1b[0Knext", "next", id="a pager erased by CUB and EL"),
        pytest.param(b"abc\x1b[5Gx", "abc x", id="cursor to a column"),
        pytest.param(b"abc\x1b[999999999Gx", "abc" + " " * 4092 + "x", id="a far column costs no memory"),
        pytest.param(b"abc\x1b[2K", "", id="the whole line erased"),
        pytest.param(b"echo\x1bEoutput", "echo\noutput", id="NEL begins a line"),
        pytest.param(
            b"\x1b[24;12Hshow ver\x1b[24;20H\x1b[1;0H\x1b[1M\x1b[24;1H\x1b[1L\x1b[24;1H\x1b[2K\x1b[24;1Hsw1# "
            b"\x1b[24;1H\x1b[24;6H",
            "           show ver\nsw1#",
            id="a ProCurve scrolls by an inserted line and writes by cursor address",
        ),
        pytest.param(b"Press any key\x1b[2J\x1b[1;1H\x1b[24;1H\x1b[2Ksw1# ", "sw1# ", id="a screen anew"),
        pytest.param(b"Welcome to\x1b[2J\x1b[Hsw1# ", "sw1# ", id="a cleared screen under a long line"),
        pytest.param(b"Welcome to\x1b[H\x1b[2Jsw1# ", "sw1# ", id="a screen that is cleared from its corner"),
        pytest.param(b"Welcome to\x1b[H\x1b[Jsw1# ", "sw1# ", id="from its corner down"),
        pytest.param(b"Welcome to\x1b[1;1H\x1b[0Jsw1# ", "sw1# ", id="from its corner down, in long form"),
        pytest.param(b"Welcome to\x1bcsw1# ", "sw1# ", id="a terminal that is reset"),
        pytest.param(b"one\r\ntwo\x1b[2Jthree", "one\nthree", id="lines above a cleared screen stay"),
        pytest.param(b"--More--\r\x1b[Jnext", "next", id="a pager erased by ED"),
        pytest.param(
            b"\x1b[1;1HSwitch 48G\x1b[3;1HFirmware 1.2\x1b[24;1Hsw1# \x1b[24;6H",
            "Switch 48G\nFirmware 1.2\nsw1#",
            id="a screen that is drawn by addresses",
        ),
        pytest.param(b"old\x1b[Hnew", "new", id="cursor home"),
        pytest.param(b"half\x1b[3", "half", id="an escape sequence that is still under way"),
        pytest.param(b"half\x1b]0;sw", "half", id="a window title that is still under way"),
    ],
)
def test_clean(received: bytes, shown: str) -> None:
    assert clean(received) == shown


def test_a_bell_is_not_visible() -> None:
    assert visible("sw1\x07#") == "sw1#"


def test_of_lines_divided_by_escapes_the_last_one_is_visible() -> None:
    assert visible("show ver\x1b[1L\x1b[24;1Hsw1# ") == "sw1# "


@pytest.mark.parametrize(
    ("received", "left"),
    [
        pytest.param(" --More-- \x00", " --More-- ", id="the NUL behind the pager of FRR"),
        pytest.param("\x1b[7m(END)\x1b[m\x1b[K", "(END)", id="the colours of less"),
        pytest.param("--More--\b\b\r!", "--More--\b\b\r!", id="what moves the cursor stays"),
    ],
)
def test_the_text_that_a_pager_waits_with(received: str, left: str) -> None:
    assert without_escapes(received) == left


@pytest.mark.parametrize(
    ("received", "unfinished"),
    [
        pytest.param(b"sw1# \x1b", b"\x1b", id="ESC alone"),
        pytest.param(b"sw1# \x1b[24;", b"\x1b[24;", id="within the numbers of a CSI"),
        pytest.param(b"sw1# \x1b[?2", b"\x1b[?2", id="within a private CSI"),
        pytest.param(b"sw1# \x1b]0;tit", b"\x1b]0;tit", id="within a window title"),
        pytest.param(b"sw1# \x1b]0;t\x1b", b"\x1b]0;t\x1b", id="within the end of a window title"),
        pytest.param(b"sw1# \x1b(", b"\x1b(", id="before the name of a character set"),
        pytest.param(b"sw1# \x1b[24;6H", b"", id="a whole one"),
        pytest.param(b"\x1b[1msw1# ", b"", id="a whole one before the prompt"),
        pytest.param(b"sw1# ", b"", id="none"),
    ],
)
def test_the_unfinished_escape(received: bytes, unfinished: bytes) -> None:
    assert unfinished_escape(bytearray(received)) == unfinished
