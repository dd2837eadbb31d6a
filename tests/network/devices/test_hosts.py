"""What is accepted as a device's host."""

import pytest

from netautod.network.devices.records.hosts import is_host


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("192.0.2.1", id="IPv4"),
        pytest.param("2001:db8::1", id="IPv6"),
        pytest.param("::ffff:192.0.2.1", id="IPv4-mapped IPv6"),
        pytest.param("127.0.0.1", id="loopback"),
        pytest.param("core-1", id="one label"),
        pytest.param("core-1.example.com", id="several labels"),
        pytest.param("core_1.example.com.", id="underscore and final dot"),
        pytest.param("3com.example", id="label that begins with a digit"),
        pytest.param("a" * 63, id="longest label"),
    ],
)
def test_hosts(text: str) -> None:
    assert is_host(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" 192.0.2.1", id="leading space"),
        pytest.param("core 1", id="space inside"),
        pytest.param("core-1\n", id="line break at the end"),
        pytest.param("ssh://core-1", id="scheme"),
        pytest.param("core-1:22", id="port"),
        pytest.param("admin@core-1", id="user"),
        pytest.param("[2001:db8::1]", id="brackets"),
        pytest.param("fe80::1%eth0", id="zone"),
        pytest.param("core-1;reboot", id="semicolon"),
        pytest.param("$(reboot)", id="substitution"),
        pytest.param("`reboot`", id="back quotes"),
        pytest.param("core|1", id="pipe"),
        pytest.param("core/1", id="slash"),
        pytest.param("-oProxyCommand=x", id="looks like an option"),
        pytest.param("core-.example", id="label ends with a hyphen"),
        pytest.param("core..example", id="empty label"),
        pytest.param(".", id="only a dot"),
        pytest.param("999.1.1.1", id="no address after all"),
        pytest.param("10.1", id="short address"),
        pytest.param("167772161", id="decimal address"),
        pytest.param("0x7f000001", id="hexadecimal address"),
        pytest.param("0x7f.0.0.0x1", id="hexadecimal parts"),
        pytest.param("017700000001", id="octal address"),
        pytest.param("кот.example", id="not ASCII"),
        pytest.param("a" * 64, id="label too long"),
        pytest.param(".".join(["a" * 60] * 5), id="name too long"),
    ],
)
def test_not_hosts(text: str) -> None:
    assert not is_host(text)
