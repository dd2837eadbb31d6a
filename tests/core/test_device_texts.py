"""Texts of devices: what cannot be shown is replaced."""

import pytest

from netautod.core.text.device_texts import MOST_CHARACTERS, device_text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(b"uplink", "uplink", id="bytes"),
        pytest.param(" uplink\t", "uplink", id="blanks around it"),
        pytest.param(b"caf\xc3\xa9", "caf\u00e9", id="UTF-8"),
        pytest.param(b"caf\xe9", "caf\ufffd", id="no UTF-8"),
        pytest.param(b"a\x1b[31mb", "a\ufffd[31mb", id="a control character"),
        pytest.param("a\u202eb", "a\ufffdb", id="a character that turns the line around"),
        pytest.param("a\r\nb", "a  b", id="a line break"),
        pytest.param(b"name\0\0", "name", id="padding"),
        pytest.param(b"a\0b", "a\ufffdb", id="NUL within"),
        pytest.param(b"", None, id="empty"),
        pytest.param("  ", None, id="blank"),
        pytest.param(None, None, id="nothing"),
        pytest.param("x" * 2000, "x" * MOST_CHARACTERS, id="too long"),
    ],
)
def test_device_text(value: bytes | str | None, expected: str | None) -> None:
    assert device_text(value) == expected
