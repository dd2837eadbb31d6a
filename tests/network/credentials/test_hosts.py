"""`allowed_hosts`: which entries there may be and which hosts they cover."""

import pytest

from netautod.network.credentials.hosts import allows, is_entry


@pytest.mark.parametrize(
    ("entries", "host", "allowed"),
    [
        pytest.param([], "192.0.2.1", True, id="an empty list allows all"),
        pytest.param(["192.0.2.0/24"], "192.0.2.1", True, id="address in the network"),
        pytest.param(["192.0.2.7/24"], "192.0.2.1", True, id="network with host bits"),
        pytest.param(["192.0.2.0/24"], "192.0.3.1", False, id="address outside"),
        pytest.param(["192.0.2.1"], "192.0.2.1", True, id="single address"),
        pytest.param(["192.0.2.0/24"], "::ffff:192.0.2.1", True, id="IPv4 in IPv6 form"),
        pytest.param(["::ffff:0:0/96"], "192.0.2.1", False, id="IPv6 network, IPv4 host"),
        pytest.param(["2001:db8::/32"], "2001:DB8::1", True, id="IPv6"),
        pytest.param(["2001:db8::/32"], "192.0.2.1", False, id="other family"),
        pytest.param(["*.lab.example"], "core-1.lab.example", True, id="glob"),
        pytest.param(["*.LAB.example"], "Core-1.lab.example.", True, id="glob in any case, final dot"),
        pytest.param(["*.lab.example"], "lab.example", False, id="glob needs the dot"),
        pytest.param(["*.lab.example"], "core-1.lab.example.evil.example", False, id="glob is anchored"),
        pytest.param(["core-?"], "core-1", True, id="one character"),
        pytest.param(["core-?"], "core-12", False, id="not two"),
        pytest.param(["10.0.*"], "10.0.3.4", True, id="glob over an address"),
        pytest.param(["10.0.0.0/8"], "core-1", False, id="a name without its addresses"),
        pytest.param(["10.*"], "10.evil.example", False, id="a name that looks like an address"),
        pytest.param(["2001:db8:*"], "2001:db8::1", True, id="glob over an address of IPv6"),
        pytest.param(["*"], "10.0.0.1", True, id="a star covers addresses"),
        pytest.param(["*"], "core-1", True, id="a star covers names"),
        pytest.param(["10-*"], "10-core", True, id="a glob of names may begin with digits"),
        pytest.param(["10.0.0.0/8", "core-1"], "core-1", True, id="any entry will do"),
    ],
)
def test_allows(entries: list[str], host: str, allowed: bool) -> None:
    assert allows(entries, host) is allowed


@pytest.mark.parametrize(
    ("entries", "addresses", "allowed"),
    [
        pytest.param(["10.0.0.0/8"], ["10.1.1.1"], True, id="in the network"),
        pytest.param(["10.0.0.0/8"], ["::ffff:10.1.1.1"], True, id="in the network, mapped"),
        pytest.param(["10.0.0.0/8"], ["10.1.1.1", "192.0.2.1"], False, id="one of two outside"),
        pytest.param(["10.0.0.0/8", "192.0.2.1"], ["10.1.1.1", "192.0.2.1"], True, id="each in an entry"),
        pytest.param(["10.0.0.0/8"], [], False, id="no address"),
        pytest.param(["10.1.*"], ["10.1.1.1"], True, id="a glob over addresses"),
        pytest.param(["*.lab.example"], ["10.1.1.1"], False, id="a glob over other names"),
        pytest.param(["core-1.evil.example"], ["192.0.2.1"], True, id="the name itself"),
    ],
)
def test_a_name_with_its_addresses(entries: list[str], addresses: list[str], allowed: bool) -> None:
    assert allows(entries, "core-1.evil.example", addresses) is allowed


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        pytest.param("10.0.0.0/8", True, id="network"),
        pytest.param("core-*.lab.example", True, id="glob"),
        pytest.param("10.0.0.0/33", False, id="prefix too long"),
        pytest.param("core 1", False, id="space"),
        pytest.param("", False, id="empty"),
        pytest.param("core-[12]", False, id="character class"),
        pytest.param("http://core", False, id="address of a page"),
    ],
)
def test_entries(text: str, valid: bool) -> None:
    assert is_entry(text) is valid
