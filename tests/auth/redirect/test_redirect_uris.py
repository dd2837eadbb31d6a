"""The allow-list of redirect URIs: equal or not, and which entries the settings accept."""

import re

import pytest

from netautod.auth.redirect.uris import is_listed
from netautod.plugin_api import RedirectRules

LISTED = "https://console.example/signed-in?from=oidc"
ENTRIES = (
    LISTED,
    "http://127.0.0.1/cli",
    "http://[::1]:8400/cli",
    "http://127.0.0.1:5000",
    "app.example://done",
)

UNLISTED = [
    pytest.param("", id="empty"),
    pytest.param("https://evil.example/", id="another host"),
    pytest.param(LISTED + "&x=1", id="one parameter more"),
    pytest.param(LISTED + "#", id="an empty fragment"),
    pytest.param(LISTED.partition("?")[0], id="without the query"),
    pytest.param(LISTED.replace("signed-in", "Signed-In"), id="another case in the path"),
    pytest.param(LISTED.replace("https", "http"), id="in clear"),
    pytest.param(LISTED.replace("https", "HTTPS"), id="the scheme in capitals"),
    pytest.param(LISTED.replace("console.example", "CONSOLE.example"), id="the host in capitals"),
    pytest.param(LISTED.replace("console.example", "console.example."), id="a dot behind the host"),
    pytest.param(LISTED.replace("console.example", "console.example:443"), id="the port spelt out"),
    pytest.param(LISTED.replace("console.example", "console.example.evil.example"), id="a longer host"),
    pytest.param(LISTED.replace("console.example", "console.example@evil.example"), id="a user name"),
    pytest.param(LISTED.replace("console.example", "evil.example\\@console.example"), id="a backslash"),
    pytest.param(LISTED.replace("/signed-in", "/x/../signed-in"), id="a way around"),
    pytest.param(LISTED.replace("/signed-in", "//signed-in"), id="two slashes"),
    pytest.param(LISTED.replace("signed-in", "signed%2Din"), id="a letter escaped"),
    pytest.param(LISTED.replace("https://", "https:\\\\"), id="backslashes for slashes"),
    pytest.param(LISTED + "\\@evil.example", id="a backslash at the end"),
    pytest.param(" " + LISTED, id="a space before"),
    pytest.param(LISTED + " ", id="a space behind"),
    pytest.param("\t" + LISTED, id="a tab before"),
    pytest.param(LISTED + "\r\nLocation: https://evil.example", id="a line break"),
    pytest.param(LISTED.replace("console", "c\u043ensole"), id="a letter of another alphabet"),
    pytest.param("//console.example/signed-in?from=oidc", id="no scheme"),
    pytest.param("javascript:alert(1)//" + LISTED, id="a script"),
    pytest.param("http://127.0.0.1:8080/cli/more", id="loopback with a longer path"),
    pytest.param("http://127.0.0.1:8080/more/cli", id="loopback with another path before"),
    pytest.param("http://127.0.0.1:8080@evil.example/cli", id="loopback as a user name"),
    pytest.param("http://127.0.0.1:@evil.example/cli", id="loopback as a user name without password"),
    pytest.param("http://127.0.0.1.evil.example/cli", id="loopback as a part of a name"),
    pytest.param("http://127.0.0.1:99999/cli", id="loopback with a port out of range"),
    pytest.param("http://127.0.0.1:0/cli", id="loopback with port 0"),
    pytest.param("http://127.0.0.1:080/cli", id="loopback with a port spelt otherwise"),
    pytest.param("http://127.0.0.1:\u0661/cli", id="loopback with a digit of another alphabet"),
    pytest.param("http://127.0.0.1:/cli", id="loopback with an empty port"),
    pytest.param("http://127.0.0.1:80:80/cli", id="loopback with two ports"),
    pytest.param("http://127.0.0.1:8080#/cli", id="loopback with a fragment before the path"),
    pytest.param("http://127.0.0.1:8080?/cli", id="loopback with a query before the path"),
    pytest.param("http://127.0.0.1:8080/", id="loopback with a slash where the entry has no path"),
    pytest.param("https://127.0.0.1:8080/cli", id="loopback over TLS"),
    pytest.param("http://localhost:8080/cli", id="loopback by name"),
    pytest.param("http://127.0.0.2:8080/cli", id="another loopback address"),
    pytest.param("http://127.1:8080/cli", id="loopback spelt short"),
    pytest.param("http://[0:0:0:0:0:0:0:1]:8080/cli", id="IPv6 loopback spelt long"),
    pytest.param("http://127.0.0.1/cl", id="loopback with a shorter path"),
    pytest.param("http://127.0.0.1" + "1" * 5000 + "/cli", id="endless"),
]


@pytest.mark.parametrize("uri", UNLISTED)
def test_unlisted(uri: str) -> None:
    assert not is_listed(uri, ENTRIES)


@pytest.mark.parametrize(
    "uri",
    [
        *(pytest.param(entry, id=f"as listed: {entry}") for entry in ENTRIES),
        pytest.param("http://127.0.0.1:1/cli", id="the lowest port"),
        pytest.param("http://127.0.0.1:65535/cli", id="the highest port"),
        pytest.param("http://[::1]:51000/cli", id="IPv6 with another port than the entry's"),
        pytest.param("http://[::1]/cli", id="IPv6 without the entry's port"),
        pytest.param("http://127.0.0.1:6000", id="an entry without path"),
    ],
)
def test_listed(uri: str) -> None:
    assert is_listed(uri, ENTRIES)


def test_an_entry_of_another_host_matches_its_port_only() -> None:
    assert not is_listed("https://a.example:1/", ["https://a.example:2/"])
    assert not is_listed("http://localhost:1/", ["http://localhost:2/"])


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry) for entry in ENTRIES])
def test_entries_that_the_settings_accept(entry: str) -> None:
    assert RedirectRules(callback_url="", redirect_uris=(entry,)).redirect_uris == (entry,)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("", id="empty"),
        pytest.param("/done", id="relative"),
        pytest.param("https:/console.example", id="one slash"),
        pytest.param("https://a.example/#", id="a fragment"),
        pytest.param("https://*.example/", id="a wildcard"),
        pytest.param("https://user@a.example/", id="a user name"),
        pytest.param("https://a.example\\b", id="a backslash"),
        pytest.param("https://a.example/ b", id="a space"),
        pytest.param("javascript://a.example/%0aalert(1)", id="a script"),
        pytest.param("data://text", id="data"),
        pytest.param("https://" + "a" * 3000, id="endless"),
    ],
)
def test_entries_that_the_settings_refuse(entry: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(repr(entry))} (is not an|must have no) "):
        RedirectRules(callback_url="", redirect_uris=(entry,))
