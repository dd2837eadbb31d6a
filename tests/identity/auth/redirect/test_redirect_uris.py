"""The allow-list of redirect URIs: equal or not, and which entries the settings accept."""

import re

import pytest

from netautod.identity.auth.redirect.uris import is_listed
from netautod.plugin_api import RedirectRules
from tests.identity.auth.redirect.uris import ENTRIES, UNLISTED
from tests.support.tables import over


@over("uri", UNLISTED)
def test_unlisted(uri: str) -> None:
    assert not is_listed(uri, ENTRIES)


@over(
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


@over("entry", [pytest.param(entry, id=entry) for entry in ENTRIES])
def test_entries_that_the_settings_accept(entry: str) -> None:
    assert RedirectRules(callback_url="", redirect_uris=(entry,)).redirect_uris == (entry,)


@over(
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
