"""The groups of an entry where a directory cuts what it returns, as no slapd of the tests does."""

import ssl
from collections.abc import Sequence
from typing import Any, cast

import pytest

from netautod.plugin_api import ProviderUnavailable
from netautod_ldap import LdapSettings
from netautod_ldap.groups import groups_of
from netautod_ldap.session import Entry, IncompleteAnswer, Session

PART = "the directory returns only a part of memberOf"


class Answers:
    """A session whose searches end as the test says."""

    def __init__(self, error: ProviderUnavailable | None = None) -> None:
        self._error = error

    def search(self, base: str, filter: str, attributes: Sequence[str], **options: Any) -> list[Entry]:
        return [Entry(dn="cn=one", attributes={}), Entry(dn="cn=two", attributes={})]

    def search_whole(self, base: str, filter: str, attributes: Sequence[str]) -> list[Entry]:
        if self._error is not None:
            raise self._error
        return [Entry(dn="cn=below", attributes={})]


@pytest.mark.parametrize(
    ("attributes", "names", "unknown"),
    [
        pytest.param({"memberOf": [b"cn=a"]}, ("cn=a",), None, id="whole"),
        pytest.param({"memberOf;range=0-1499": [b"cn=a"], "memberOf": []}, (), PART, id="the first range"),
        pytest.param(
            {"memberof;range=0-*": [b"cn=a"], "memberOf": [b"cn=a"]}, ("cn=a",), None, id="the last"
        ),
        pytest.param({}, (), None, id="none, where others have some"),
    ],
)
def test_values_that_come_in_ranges(
    attributes: dict[str, list[bytes]], names: tuple[str, ...], unknown: str | None
) -> None:
    settings = LdapSettings(base_dn="dc=example,dc=net")
    entry = Entry(dn="uid=ada", attributes=attributes)
    found = groups_of(cast(Session, Answers()), settings, entry, "ada")
    assert (found.names, found.unknown) == (names, unknown)


def test_a_search_that_is_cut_leaves_the_groups_unknown() -> None:
    settings = LdapSettings(base_dn="dc=example,dc=net", group_base_dn="ou=groups", group_attribute="")
    session = cast(Session, Answers(IncompleteAnswer("only a part")))
    entry = Entry(dn="uid=ada", attributes={})
    assert groups_of(session, settings, entry, "ada").unknown == "only a part"
    assert groups_of(cast(Session, Answers()), settings, entry, "ada").names == ("cn=below",)


@pytest.mark.parametrize(
    ("code", "referral", "reason"),
    [
        pytest.param(0, "ldap://other.example/dc=example,dc=net", "on another server", id="a referral"),
        pytest.param(3, None, "only a part", id="the limit of time"),
        pytest.param(4, None, "only a part", id="the limit of size"),
        pytest.param(11, None, "only a part", id="the administrator's limit"),
        pytest.param(32, None, "no entry", id="no base"),
    ],
)
def test_groups_of_an_incomplete_answer_count_though_there_may_be_more(
    monkeypatch: pytest.MonkeyPatch, code: int, referral: str | None, reason: str
) -> None:
    settings = LdapSettings(base_dn="dc=example,dc=net", group_base_dn="ou=groups")
    response: list[dict[str, Any]] = [{"type": "searchResEntry", "dn": "cn=below", "raw_attributes": {}}]
    if referral is not None:
        response.append({"type": "searchResRef", "uri": [referral]})
    session = Session(settings, ssl.create_default_context())
    monkeypatch.setattr(session, "_answer", lambda *_: (code, [] if code == 32 else response))
    entry = Entry(dn="uid=ada", attributes={"memberOf": [b"cn=own"]})
    found = groups_of(session, settings, entry, "ada")
    assert found.names == (("cn=own",) if code == 32 else ("cn=own", "cn=below"))
    assert reason in (found.unknown or "")


def test_a_directory_in_trouble_is_not_available() -> None:
    settings = LdapSettings(base_dn="dc=example,dc=net", group_base_dn="ou=groups")
    session = cast(Session, Answers(ProviderUnavailable("busy")))
    with pytest.raises(ProviderUnavailable):
        groups_of(session, settings, Entry(dn="uid=ada", attributes={}), "ada")
