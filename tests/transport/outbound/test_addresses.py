"""Address rules and URL forms, as tables."""

import re

import pytest

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.errors import AddressRefused
from netautod.transport.outbound.urls import origin_of
from tests.support.tables import over


@over(
    ("address", "reason"),
    [
        pytest.param("127.0.0.1", "loopback", id="the loopback address"),
        pytest.param("127.255.255.254", "loopback", id="any address of the loopback network"),
        pytest.param("0.0.0.0", "unspecified", id="the unspecified address"),
        pytest.param("0.1.2.3", "unspecified", id="an address of this network"),
        pytest.param("169.254.169.254", "metadata", id="the metadata service"),
        pytest.param("169.254.1.1", "link-local", id="a link-local address"),
        pytest.param("100.100.100.200", "metadata", id="Alibaba's metadata service"),
        pytest.param("168.63.129.16", "metadata", id="Azure's wire server"),
        pytest.param("fd00:ec2::254", "metadata", id="the metadata service over IPv6"),
        pytest.param("224.0.0.251", "multicast", id="a multicast address"),
        pytest.param("255.255.255.255", "reserved", id="the broadcast address"),
        pytest.param("::1", "loopback", id="the loopback address of IPv6"),
        pytest.param("::", "unspecified", id="the unspecified address of IPv6"),
        pytest.param("fe80::1", "link-local", id="a link-local address of IPv6"),
        pytest.param("fe80::1%eth0", "link-local", id="a link-local address with its zone"),
        pytest.param("ff02::1", "multicast", id="a multicast address of IPv6"),
        pytest.param("::ffff:127.0.0.1", "loopback", id="loopback, IPv4-mapped"),
        pytest.param("::ffff:a9fe:a9fe", "metadata", id="metadata, IPv4-mapped in hexadecimal"),
        pytest.param("::ffff:0:127.0.0.1", "loopback", id="loopback, IPv4-translated"),
        pytest.param("::127.0.0.1", "loopback", id="loopback, IPv4-compatible"),
        pytest.param("64:ff9b::7f00:1", "loopback", id="loopback through NAT64"),
        pytest.param("64:ff9b:1::a9fe:a9fe", "metadata", id="metadata through a local NAT64, last bits"),
        pytest.param("64:ff9b:1:a9fe:a9:fe00::", "metadata", id="metadata through a local NAT64, RFC 6052"),
        pytest.param("2002:7f00:1::1", "loopback", id="loopback through 6to4"),
        pytest.param("2001:0:5601:5601:0:0:80ff:fffe", "loopback", id="loopback as a Teredo client"),
        pytest.param("2001:db8::5efe:127.0.0.1", "loopback", id="loopback through ISATAP"),
        pytest.param("10.0.0.1", None, id="a private network"),
        pytest.param("192.168.1.1", None, id="another private network"),
        pytest.param("100.64.0.1", None, id="carrier-grade NAT"),
        pytest.param("93.184.216.34", None, id="a public address"),
        pytest.param("fd12:3456::1", None, id="a unique local address"),
        pytest.param("2606:4700::1111", None, id="a public address of IPv6"),
        pytest.param("64:ff9b::5db8:d822", None, id="a public address through NAT64"),
        pytest.param("64:ff9b:1::5db8:d822", None, id="a public address through a local NAT64"),
    ],
)
def test_what_is_refused(address: str, reason: str | None) -> None:
    refusal = AddressRules().refusal(address)
    assert refusal is None if reason is None else reason in (refusal or "")


# Where clouds hand out an instance's credentials, by the documentation of each.
CREDENTIALS = re.findall(
    r"\S+",
    """
    169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23 100.100.100.200 168.63.129.16
    192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fe80::a9fe:a9fe
    """,
)


@over("address", CREDENTIALS)
def test_no_cloud_hands_out_its_credentials(address: str) -> None:
    rules = AddressRules()
    assert rules.refusal(address) == "a cloud metadata address"
    assert rules.device_refusal(address, vouched=True) == "a cloud metadata address"


@over(
    ("address", "unvouched", "vouched"),
    [
        pytest.param("127.0.0.2", "a loopback address, where only", None, id="loopback"),
        pytest.param("::1", "a loopback address, where only", None, id="loopback of IPv6"),
        pytest.param("169.254.7.7", "a link-local address, where only", None, id="link-local"),
        pytest.param("fe80::7", "a link-local address, where only", None, id="link-local of IPv6"),
        pytest.param("64:ff9b::7f00:2", "a loopback address, where only", None, id="loopback through NAT64"),
        pytest.param("0.0.0.0", "an unspecified address", "an unspecified address", id="unspecified"),
        pytest.param("224.0.0.5", "a multicast address", "a multicast address", id="multicast"),
        pytest.param("240.0.0.1", "a reserved address", "a reserved address", id="reserved"),
        pytest.param("192.0.2.1", None, None, id="any other"),
    ],
)
def test_where_devices_may_stand(address: str, unvouched: str | None, vouched: str | None) -> None:
    rules = AddressRules()
    for expected, is_vouched in ((unvouched, False), (vouched, True)):
        refusal = rules.device_refusal(address, vouched=is_vouched)
        assert refusal is None if expected is None else (refusal or "").startswith(expected)
    assert AddressRules.allowing([address]).device_refusal(address, vouched=False) is None


@over(
    ("allowed", "address", "refused"),
    [
        pytest.param("127.0.0.1", "127.0.0.1", False, id="the allowed address"),
        pytest.param("127.0.0.1", "127.0.0.2", True, id="its neighbour is not allowed with it"),
        pytest.param("127.0.0.0/8", "127.9.9.9", False, id="an address of the allowed network"),
        pytest.param("127.0.0.1", "::ffff:127.0.0.1", False, id="the mapped form of the allowed address"),
        pytest.param("127.0.0.1", "::1", True, id="the same machine by another address"),
        pytest.param("::1", "127.0.0.1", True, id="the same machine the other way round"),
        pytest.param("fe80::/10", "fe80::1%eth0", False, id="an allowed address with a zone"),
    ],
)
def test_what_the_settings_allow(allowed: str, address: str, refused: bool) -> None:
    assert (AddressRules.allowing([allowed]).refusal(address) is not None) == refused


@over(
    ("url", "origin"),
    [
        pytest.param("http://netbox.example", "http://netbox.example:80", id="a name"),
        pytest.param("HTTPS://NetBox.Example/api", "https://netbox.example:443", id="upper case"),
        pytest.param("http://10.1.1.1:8000/x?y", "http://10.1.1.1:8000", id="an address with a port"),
        pytest.param("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443", id="IPv6 in brackets"),
    ],
)
def test_origins(url: str, origin: str) -> None:
    assert str(origin_of(url)) == origin


@over(
    "url",
    [
        pytest.param("ftp://host/", id="another scheme"),
        pytest.param("file:///etc/passwd", id="a file"),
        pytest.param("//host/", id="no scheme"),
        pytest.param("host", id="a bare name"),
        pytest.param("", id="nothing"),
        pytest.param("http://", id="no host"),
        pytest.param("http:///path", id="an empty host"),
        pytest.param("http://user:secret@host/", id="a password"),
        pytest.param("http://good.example@evil.example/", id="a host in the place of the user name"),
        pytest.param("http://good.example\\@evil.example/", id="a backslash"),
        pytest.param("http://host:0/", id="port 0"),
        pytest.param("http://host:/", id="an empty port"),
        pytest.param("http://host:99999/", id="a port out of range"),
        pytest.param("http://host:8o/", id="a port that is no number"),
        pytest.param("http://ho st/", id="a space"),
        pytest.param("http://host/\r\nX: y", id="a line break"),
        pytest.param("http://\u24db\u24de\u24d2\u24d0\u24db/", id="letters that normalise to others"),
        pytest.param("http://127\u30020\u30020\u30021/", id="dots that normalise to others"),
        pytest.param("http://[fe80::1%25eth0]/", id="a zone"),
        pytest.param("http://[::1/", id="a bracket that stays open"),
        pytest.param("http://[v1.x]/", id="a future address form"),
        pytest.param("http://host%2eexample/", id="a percent sign in the host"),
        pytest.param("http://" + "a" * 9000, id="a URL without end"),
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        origin_of(url)
