"""The spellings of MAC and IP addresses that are understood, and those that are not."""

import pytest

from netautod.core.net.device_addresses import ip_address, mac_address


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("00:1b:54:aa:bb:cc", id="colons"),
        pytest.param("00-1B-54-AA-BB-CC", id="hyphens, upper case"),
        pytest.param("001b.54aa.bbcc", id="dotted, as Cisco prints it"),
        pytest.param("001b-54aa-bbcc", id="two hyphens, as Huawei prints it"),
        pytest.param("001B54AABBCC", id="bare"),
        pytest.param(" 00:1b:54:aa:bb:cc ", id="spaces around it"),
    ],
)
def test_a_mac_address_has_one_form(text: str) -> None:
    assert mac_address(text) == "00:1b:54:aa:bb:cc"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("00:1b:54:aa:bb", id="five bytes"),
        pytest.param("00:1b:54:aa:bb:cc:dd", id="seven bytes"),
        pytest.param("0:1b:54:aa:bb:cc", id="a single digit"),
        pytest.param("00:1b-54:aa:bb:cc", id="mixed separators"),
        pytest.param("001b.54aa-bbcc", id="mixed separators of two kinds"),
        pytest.param("00:1b:54:aa:bb:cg", id="no hexadecimal digit"),
        pytest.param("\u0660\u06601b54aabbcc", id="digits of another script"),
        pytest.param("00:1b:54:aa:bb:cc\n00", id="two lines"),
    ],
)
def test_anything_else_is_no_mac_address(text: str) -> None:
    assert mac_address(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("192.0.2.1", "192.0.2.1", id="IPv4"),
        pytest.param("2001:DB8:0:0::0001", "2001:db8::1", id="IPv6 in its short form"),
        pytest.param(" 192.0.2.1 ", "192.0.2.1", id="spaces around it"),
        pytest.param("192.0.2.1/24", None, id="a prefix length"),
        pytest.param("fe80::1%eth0", None, id="a zone"),
        pytest.param("192.0.2", None, id="too short"),
        pytest.param("3221225985", None, id="a number"),
        pytest.param("010.0.0.1", None, id="a leading zero"),
        pytest.param("core-1", None, id="a name"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_an_ip_address_has_one_form(text: str, expected: str | None) -> None:
    assert ip_address(text) == expected
