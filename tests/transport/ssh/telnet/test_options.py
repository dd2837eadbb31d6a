"""The options of telnet, byte by byte, as RFC 854, 855, 856, 1073 and 1091 have them."""

import pytest

from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.telnet.options import Options

IAC, DONT, DO, WONT, WILL, SB, SE = (bytes([code]) for code in (255, 254, 253, 252, 251, 250, 240))
BINARY, ECHO, SGA, STATUS, TTYPE, NAWS, LINEMODE, ENVIRON = (
    bytes([code]) for code in (0, 1, 3, 5, 24, 31, 34, 39)
)
COMPRESS = bytes([86])


def decode(received: bytes) -> tuple[bytes, bytes]:
    """Return the text in what came, and what was answered."""
    answers = bytearray()
    options = Options(answers.extend, columns=511, rows=1000)
    pieces = [options.received(received[at : at + 1]) for at in range(len(received))]
    whole = Options(bytearray().extend, columns=511, rows=1000).received(received)
    assert b"".join(pieces) == whole  # however it is cut
    return whole, bytes(answers)


@pytest.mark.parametrize(
    ("received", "text", "answered"),
    [
        pytest.param(b"sw1#", b"sw1#", b"", id="text alone"),
        pytest.param(IAC + WILL + ECHO + b"a", b"a", IAC + DO + ECHO, id="it echoes"),
        pytest.param(IAC + WILL + SGA, b"", IAC + DO + SGA, id="no go-ahead"),
        pytest.param(IAC + DO + SGA, b"", IAC + WILL + SGA, id="ours neither"),
        pytest.param(
            IAC + DO + NAWS,
            b"",
            IAC + WILL + NAWS + IAC + SB + NAWS + b"\x01\xff\xff\x03\xe8" + IAC + SE,
            id="the window, its byte 255 doubled",
        ),
        pytest.param(
            IAC + DO + TTYPE + IAC + SB + TTYPE + b"\x01" + IAC + SE,
            b"",
            IAC + WILL + TTYPE + IAC + SB + TTYPE + b"\x00vt100" + IAC + SE,
            id="the terminal",
        ),
        pytest.param(IAC + DO + ECHO, b"", IAC + WONT + ECHO, id="we do not echo"),
        pytest.param(IAC + DO + LINEMODE, b"", IAC + WONT + LINEMODE, id="no line mode"),
        pytest.param(IAC + DO + ENVIRON, b"", IAC + WONT + ENVIRON, id="no variables of ours"),
        pytest.param(
            IAC + SB + ENVIRON + b"\x01\x00USER" + IAC + SE, b"", b"", id="not even if it asks at once"
        ),
        pytest.param(IAC + DO + STATUS, b"", IAC + WONT + STATUS, id="no status"),
        pytest.param(IAC + WILL + COMPRESS, b"", IAC + DONT + COMPRESS, id="no compression"),
        pytest.param(IAC + DO + b"\xc8", b"", IAC + WONT + b"\xc8", id="an option nobody knows"),
        pytest.param(IAC + SB + b"\xc8abc" + IAC + SE + b"x", b"x", b"", id="and its parameters"),
        pytest.param(IAC + b"\xf1" + IAC + b"\xf9" + b"x", b"x", b"", id="no operation, go ahead"),
        pytest.param(b"a" + IAC + IAC + b"b", b"a\xffb", b"", id="a byte 255"),
        pytest.param(b"a\r\x00b\r\nc", b"a\rb\r\nc", b"", id="CR NUL is CR"),
        pytest.param(IAC + WILL + BINARY + b"a\r\x00", b"a\r\x00", IAC + DO + BINARY, id="but not in binary"),
        pytest.param(b"\r" + IAC + WILL + SGA + b"\x00x", b"\rx", IAC + DO + SGA, id="options within CR NUL"),
    ],
)
def test_what_comes(received: bytes, text: bytes, answered: bytes) -> None:
    assert decode(received) == (text, answered)


@pytest.mark.parametrize(
    ("before", "text", "sent"),
    [
        pytest.param(b"", b"show clock\n", b"show clock\r\n", id="a line of its own editor"),
        pytest.param(IAC + WILL + ECHO, b"show clock\n", b"show clock\r\x00", id="it echoes"),
        pytest.param(IAC + WILL + ECHO, b"show clock\r", b"show clock\r\x00", id="the platform sends CR"),
        pytest.param(IAC + DO + BINARY, b"show clock\n", b"show clock\r", id="binary"),
        pytest.param(b"", b" ", b" ", id="a key of the pager"),
        pytest.param(b"", b"a\xffb", b"a\xff\xffb", id="a byte 255"),
    ],
)
def test_what_is_sent(before: bytes, text: bytes, sent: bytes) -> None:
    options = Options(bytearray().extend, columns=80, rows=24)
    options.received(before)
    assert options.sent(text) == sent


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param((IAC + DO + ENVIRON) * 2000, id="the same request again and again"),
        pytest.param(IAC + SB + TTYPE + b"x" * 100_000, id="parameters without an end"),
    ],
)
def test_endless_negotiation_is_a_failure(endless: bytes) -> None:
    with pytest.raises(DeviceFailed, match="without an end") as caught:
        Options(bytearray().extend, columns=80, rows=24).received(endless)
    assert caught.value.kind == "prompt"
