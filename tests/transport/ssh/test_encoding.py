"""The output of a command as people read it: no control of C1 is left, whatever encoding the device has."""

import pytest

from netautod.transport.ssh.encoding import readable_output, to_text
from netautod.transport.ssh.failures import DeviceFailed


@pytest.mark.parametrize(
    ("received", "shown"),
    [
        pytest.param("a\x9b31mred\x9b0m".encode(), "ared", id="colours in UTF-8"),
        pytest.param(b"caf\xe9 \x9b31mred\x9b0m", "café red", id="colours in Latin-1"),
        pytest.param("\x9d0;title\x07sw1#".encode(), "sw1#", id="a window title"),
        pytest.param("\x9d0;title\x9csw1#".encode(), "sw1#", id="a window title, ended by ST"),
        pytest.param("\x90q#0;2;0;0;0\x9ca".encode(), "a", id="a picture"),
        pytest.param("\x9dnever ended\nnext".encode(), "never ended\nnext", id="a string without an end"),
        pytest.param("a\x85b\x84c".encode(), "abc", id="line moves"),
        pytest.param(b"caf\xe9 \x93quoted\x94", "café quoted", id="quotes of Windows"),
        pytest.param("café \u201cquoted\u201d".encode(), "café “quoted”", id="quotes in UTF-8"),
        pytest.param("Г\u0440 \u200b\u202e".encode(), "Г\u0440 \u200b\u202e", id="others are kept"),
        pytest.param(b"plain\n", "plain\n", id="plain"),
    ],
)
def test_output_without_c1(received: bytes, shown: str) -> None:
    assert readable_output(to_text(received)) == shown
    failed = DeviceFailed("it failed", kind="timeout", partial=to_text(received) + ".")
    assert failed.partial == f"{shown}."
