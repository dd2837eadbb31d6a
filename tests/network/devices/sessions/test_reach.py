"""Where a connection to a device may go: addresses, names, jump devices, `allowed_hosts`."""

import socket
from collections.abc import Sequence

import pytest

from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.ssh.failures import DeviceFailed

NAMES = {
    "core-1": ["10.1.1.1"],
    "both": ["10.1.1.1", "127.0.0.1"],
    "localhost": ["127.0.0.1", "::1"],
    "metadata.google.internal": ["169.254.169.254"],
    "two": ["10.1.1.1", "192.0.2.9"],
}


async def lookup(host: str, port: int) -> Sequence[str]:
    if host not in NAMES:
        raise socket.gaierror("unknown")
    return NAMES[host]


async def reached(
    host: str,
    *,
    vouched: bool = True,
    jumps: bool = False,
    allowed: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Sequence[str]:
    """What is connected to, or the kind of the failure in its place."""
    rules = DeviceReach(rules=AddressRules.allowing(allow), lookup=lookup)
    try:
        return await rules.to(vouched=vouched, allowed_hosts=allowed, jumps=jumps)(host, 22)
    except DeviceFailed as failure:
        return [failure.kind]


@pytest.mark.parametrize(
    ("host", "vouched", "found"),
    [
        pytest.param("10.1.1.1", False, ["10.1.1.1"], id="a private address"),
        pytest.param("core-1", False, ["10.1.1.1"], id="the address of a name"),
        pytest.param("127.0.0.1", True, ["127.0.0.1"], id="loopback of a vouched device"),
        pytest.param("127.0.0.1", False, ["address"], id="loopback of any other"),
        pytest.param("::1", False, ["address"], id="loopback of IPv6"),
        pytest.param("::ffff:127.0.0.1", False, ["address"], id="loopback, mapped"),
        pytest.param("64:ff9b::7f00:1", False, ["address"], id="loopback through NAT64"),
        pytest.param("0x7f.1", False, ["address"], id="loopback in hexadecimal"),
        pytest.param("2130706433", False, ["address"], id="loopback as one number"),
        pytest.param("0177.0.0.1", False, ["address"], id="loopback in octal"),
        pytest.param("127.0.0.1.", False, ["address"], id="loopback with a dot"),
        pytest.param("localhost", False, ["address"], id="loopback by its name"),
        pytest.param("both", False, ["address"], id="one of two answers is loopback"),
        pytest.param("fe80::1", False, ["address"], id="link-local"),
        pytest.param("169.254.10.1", True, ["169.254.10.1"], id="link-local of a vouched device"),
        pytest.param("169.254.169.254", True, ["address"], id="metadata, vouched or not"),
        pytest.param("metadata.google.internal", True, ["address"], id="metadata by its name"),
        pytest.param("fd00:ec2::254", True, ["address"], id="metadata over IPv6"),
        pytest.param("0.0.0.0", True, ["address"], id="the unspecified address"),
        pytest.param("::", True, ["address"], id="the unspecified address of IPv6"),
        pytest.param("224.0.0.1", True, ["address"], id="multicast"),
        pytest.param("255.255.255.255", True, ["address"], id="broadcast"),
    ],
)
async def test_a_direct_connection(host: str, vouched: bool, found: list[str]) -> None:
    assert await reached(host, vouched=vouched) == found


@pytest.mark.parametrize(
    ("host", "vouched", "allow", "found"),
    [
        pytest.param("100.100.100.200", True, ["100.100.100.200"], ["100.100.100.200"], id="what is allowed"),
        pytest.param("127.0.0.1", False, ["127.0.0.1"], ["127.0.0.1"], id="this machine"),
        pytest.param("127.0.0.2", False, ["127.0.0.1"], ["address"], id="another one of its addresses"),
        pytest.param("0.0.0.0", True, ["127.0.0.0/8"], ["address"], id="no way round it"),
    ],
)
async def test_the_setting_outbound_allow(
    host: str, vouched: bool, allow: list[str], found: list[str]
) -> None:
    assert await reached(host, vouched=vouched, allow=allow) == found


@pytest.mark.parametrize(
    ("host", "vouched", "allowed", "found"),
    [
        pytest.param("inner", True, [], ["inner"], id="a name that only the jump device knows"),
        pytest.param("inner", True, ["inner"], ["inner"], id="the same, allowed by a glob"),
        pytest.param("core-1", False, [], ["10.1.1.1"], id="a name of a device not vouched for"),
        pytest.param("localhost", False, [], ["address"], id="the jump device itself"),
        pytest.param("localhost", True, [], ["localhost"], id="the jump device itself, vouched for"),
        pytest.param("127.0.0.1", False, [], ["address"], id="its loopback address"),
        pytest.param("169.254.169.254", True, [], ["address"], id="its metadata service"),
        pytest.param("metadata.google.internal.", True, [], ["address"], id="that one by its name"),
        pytest.param("core-1", True, ["10.0.0.0/8"], ["10.1.1.1"], id="a name within a network"),
        pytest.param("two", True, ["10.0.0.0/8"], ["credential"], id="a name that is half outside"),
        pytest.param("192.0.2.9", True, ["10.0.0.0/8"], ["credential"], id="an address outside"),
    ],
)
async def test_through_a_jump_device(host: str, vouched: bool, allowed: list[str], found: list[str]) -> None:
    assert await reached(host, vouched=vouched, jumps=True, allowed=allowed) == found


@pytest.mark.parametrize(
    ("host", "allowed", "found"),
    [
        pytest.param("core-1", ["10.0.0.0/8"], ["10.1.1.1"], id="a name within a network"),
        pytest.param("two", ["10.0.0.0/8"], ["credential"], id="a name that is half outside"),
        pytest.param("core-1", ["core-*"], ["10.1.1.1"], id="a name by a glob"),
        pytest.param("core-1", ["edge-*"], ["credential"], id="another name"),
        pytest.param("10.1.1.1", ["*"], ["10.1.1.1"], id="a star"),
    ],
)
async def test_allowed_hosts_are_held_against_what_is_connected_to(
    host: str, allowed: list[str], found: list[str]
) -> None:
    assert await reached(host, allowed=allowed) == found


@pytest.mark.parametrize("jumps", [False, True])
async def test_a_name_that_nobody_knows(jumps: bool) -> None:
    with pytest.raises(socket.gaierror):
        await reached("nowhere", vouched=False, jumps=jumps)
