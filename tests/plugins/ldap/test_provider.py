"""The provider `ldap` against a real slapd: recognised users, and trusted certificates."""

from pathlib import Path

import pytest

from netautod.plugin_api import ProbeResult, ProviderUnavailable
from netautod_ldap import LdapSettings
from netautod_ldap.provider import LdapProvider
from netautod_ldap.settings import ServerAddress
from netautod_ldap.templates import filled_dn, filled_filter
from tests.plugins.ldap.conftest import SearchSettings, authenticate
from tests.support.programs import slapd
from tests.support.programs.slapd import ADA, BASE, PASSWORD, Slapd
from tests.support.servers.certificates import Authority
from tests.support.servers.listener import listening

NET_ADMINS = f"cn=Net Admins,ou=groups,{BASE}"
OPERATORS = f"cn=operators,ou=groups,{BASE}"
LEGACY = f"cn=legacy,ou=groups,{BASE}"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({}, id="StartTLS"),
        pytest.param({"urls": "ldaps"}, id="LDAPS"),
        pytest.param({"start_tls": False}, id="in clear, when the settings say so"),
        pytest.param({"verify_tls": False, "ca_file": ""}, id="without verification, when they say so"),
        pytest.param({"urls": "second"}, id="the second server, when the first is away"),
    ],
)
async def test_a_search_and_a_bind(
    searching: SearchSettings, directory: Slapd, change: dict[str, object]
) -> None:
    urls = {"ldaps": (directory.tls_url,), "second": ("ldap://127.0.0.1:1", directory.url)}
    if "urls" in change:
        change = {**change, "urls": urls[str(change["urls"])]}
    found = await authenticate(searching(**change), "ada", PASSWORD)
    assert found is not None
    assert (found.username, found.email, found.display_name) == ("ada", "ada@example.net", "Ada Lovelace")
    assert set(found.groups) == {NET_ADMINS, OPERATORS}
    entry_uuid, dn = found.external_ids
    assert len(entry_uuid) == 36
    assert dn == ADA.replace("\\,", "\\2C")  # as OpenLDAP spells it


@pytest.mark.parametrize(
    ("username", "groups"),
    [
        pytest.param("ada", {NET_ADMINS, OPERATORS}, id="member and uniqueMember, a comma in the name"),
        pytest.param("grace", {OPERATORS, LEGACY}, id="uniqueMember and memberUid"),
        pytest.param("GRACE", {OPERATORS, LEGACY}, id="the username in capitals"),
        pytest.param("  grace ", {OPERATORS, LEGACY}, id="the username with spaces around it"),
    ],
)
async def test_groups(searching: SearchSettings, username: str, groups: set[str]) -> None:
    found = await authenticate(searching(), username, PASSWORD)
    assert found is not None
    assert set(found.groups) == groups


async def test_groups_from_the_attribute_of_the_user_alone(searching: SearchSettings) -> None:
    found = await authenticate(searching(group_base_dn=""), "ada", PASSWORD)
    assert found is not None
    assert found.groups == (NET_ADMINS,)


async def test_a_direct_bind_reads_its_own_entry(searching: SearchSettings) -> None:
    settings = searching(bind_dn="", user_dn=f"uid={{username}},ou=people,{BASE}", group_base_dn="")
    found = await authenticate(settings, "grace", PASSWORD)
    assert found is not None
    assert found.external_ids[-1] == slapd.GRACE
    assert await authenticate(settings, "grace", "wrong") is None
    assert await authenticate(settings, f"grace,ou=people,{BASE}", PASSWORD) is None


@pytest.mark.parametrize(
    ("username", "password"),
    [
        pytest.param("ada", "wrong", id="a wrong password"),
        pytest.param("nobody", PASSWORD, id="an unknown name"),
        pytest.param("twin", "wrong", id="a name of two entries in the whole directory"),
        pytest.param("*", PASSWORD, id="a star"),
        pytest.param("a*", PASSWORD, id="a star behind the first letter"),
        pytest.param("*)(uid=*", PASSWORD, id="a filter that closes ours"),
        pytest.param("ada)(objectClass=*", PASSWORD, id="a filter behind the right name"),
        pytest.param("ada)(|(uid=*", PASSWORD, id="an alternative behind the right name"),
        pytest.param("\\61da", PASSWORD, id="the right name escaped"),
        pytest.param("ad\\61", PASSWORD, id="the right name escaped at its end"),
        pytest.param("{dn}", PASSWORD, id="a placeholder"),
        pytest.param(ADA, PASSWORD, id="the DN instead of the name"),
        pytest.param("ada", "\u00ad", id="a soft hyphen, which SASLprep would make empty"),
        pytest.param("ada", "\u200b\u2060", id="invisible characters, which SASLprep would drop"),
        pytest.param("ada", f"{PASSWORD}\u00ad", id="the right password and a soft hyphen"),
    ],
)
async def test_who_is_not_recognised(searching: SearchSettings, username: str, password: str) -> None:
    assert await authenticate(searching(), username, password) is None


async def test_a_name_of_two_entries_is_refused_with_the_right_password(searching: SearchSettings) -> None:
    assert await authenticate(searching(base_dn=BASE), "twin", PASSWORD) is None
    assert await authenticate(searching(), "twin", PASSWORD) is not None


@pytest.mark.parametrize(
    ("username", "password"),
    [
        pytest.param("ada", "", id="an empty password"),
        pytest.param("ada", " ", id="a blank password"),
        pytest.param("ada", "\t\u3000\u00a0", id="a password of other spaces"),
        pytest.param("ada", "\0", id="a NUL"),
        pytest.param("ada", f"{PASSWORD}\0", id="a NUL behind the right password"),
        pytest.param("ada", "\ud800", id="a lone surrogate"),
        pytest.param("ada", "x" * 257, id="an endless password"),
        pytest.param("", PASSWORD, id="an empty name"),
        pytest.param(" ", PASSWORD, id="a blank name"),
        pytest.param("a\0", PASSWORD, id="a NUL in the name"),
    ],
)
async def test_what_is_never_sent(username: str, password: str) -> None:
    with listening(lambda connection: None) as server:
        settings = LdapSettings(urls=(server.url,), start_tls=False, base_dn=BASE)
        assert await authenticate(settings, username, password) is None
        provider = LdapProvider(settings)
        assert not (await provider.probe(username, password)).success
        await provider.close()
        assert server.connections == 0


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        pytest.param("foreign", "unable to get local issuer", id="of an authority that is not trusted"),
        pytest.param("expired", "certificate has expired", id="expired"),
        pytest.param("elsewhere", "IP address mismatch", id="of another server"),
    ],
)
async def test_certificates_that_are_refused(
    searching: SearchSettings,
    authority: Authority,
    foreign: Authority,
    tmp_path: Path,
    scheme: str,
    kind: str,
    reason: str,
) -> None:
    host = "elsewhere.example" if kind == "elsewhere" else "127.0.0.1"
    signer = foreign if kind == "foreign" else authority
    files = signer.server(f"{kind}-{scheme}", host, expired=kind == "expired")
    folder = tmp_path / "slapd"
    folder.mkdir()
    async with slapd.running_slapd(folder, authority.file, *files) as running:
        url = running.url if scheme == "ldap" else running.tls_url
        with pytest.raises(ProviderUnavailable, match=reason):
            await authenticate(searching(urls=(url,)), "ada", PASSWORD)


@pytest.mark.parametrize(
    ("change", "username", "password", "success", "message"),
    [
        pytest.param({}, None, None, True, "Connected to ldap://", id="the connection"),
        pytest.param({}, "ada", None, True, "Found cn=Lovelace", id="a name"),
        pytest.param({}, "nobody", None, False, "finds no entry", id="an unknown name"),
        pytest.param({}, "ada", PASSWORD, True, "is right; 2 groups", id="a name and its password"),
        pytest.param({}, "ada", "wrong", False, "password is wrong", id="a wrong password"),
        pytest.param({}, "ada", " ", False, "The password is blank: it is never sent", id="a blank password"),
        pytest.param({}, " ", None, False, "The name is blank", id="a blank name"),
        pytest.param({}, "a" * 257, None, False, "The name is longer than 256", id="a long name"),
        pytest.param({}, "ada", "p" * 257, False, "The password is longer than 256", id="a long password"),
        pytest.param({}, "ada", "a\0b", False, "a NUL character", id="a NUL in the password"),
        pytest.param({"username_attribute": "gecos"}, "ada", None, False, "no attribute gecos", id="no name"),
        pytest.param(
            {"group_attribute": "gecos", "group_base_dn": ""},
            "ada",
            PASSWORD,
            True,
            "the groups are unknown, the directory shows gecos of no user",
            id="groups that are not shown",
        ),
        pytest.param({"bind_password": "x"}, None, None, False, "result 49", id="a wrong bind_password"),
        pytest.param({"bind_dn": ""}, "ada", None, False, "no entry", id="an anonymous search"),
        pytest.param({"ca_file": "/nowhere"}, None, None, False, "ca_file", id="no file of authorities"),
        pytest.param({"urls": ("ldap://127.0.0.1:1",)}, None, None, False, "refused", id="no server"),
        pytest.param({"user_filter": "(uid={username}"}, "ada", None, False, "", id="a broken filter"),
    ],
)
async def test_the_administrators_test(
    searching: SearchSettings,
    change: dict[str, object],
    username: str | None,
    password: str | None,
    success: bool,
    message: str,
) -> None:
    provider = LdapProvider(searching(**change))
    try:
        result = await provider.probe(username, password)
    except ProviderUnavailable as error:  # no answer about the password: the service counts no guess
        result = ProbeResult(success=False, message=str(error))
    await provider.close()
    assert result.success == success
    assert message in result.message
    assert slapd.READER_PASSWORD not in result.message


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("ada", "(uid=ada)", id="a plain name"),
        pytest.param("*)(uid=*", r"(uid=\2a\29\28uid=\2a)", id="filter characters"),
        pytest.param("a\\b\0", r"(uid=a\5cb\00)", id="a backslash and a NUL"),
        pytest.param("{dn}", "(uid={dn})", id="a placeholder is a name like any other"),
    ],
)
def test_names_in_filters(name: str, expected: str) -> None:
    assert filled_filter("(uid={username})", {"username": name, "dn": "x"}) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("ada", "uid=ada,ou=p", id="a plain name"),
        pytest.param("a,ou=admins", r"uid=a\2Cou\3Dadmins,ou=p", id="a part of another entry's name"),
        pytest.param('+"\\<>;#', r"uid=\2B\22\5C\3C\3E\3B\23,ou=p", id="everything that is special"),
        pytest.param(" a ", r"uid=\20a\20,ou=p", id="spaces at the ends"),
    ],
)
def test_names_in_dns(name: str, expected: str) -> None:
    assert filled_dn("uid={username},ou=p", {"username": name}) == expected


def test_addresses_of_servers() -> None:
    settings = LdapSettings(urls=("ldap://a.example", "ldaps://[2001:db8::1]", "ldap://10.0.0.1:3389/"))
    assert settings.servers == [
        ServerAddress(host="a.example", port=389, ldaps=False),
        ServerAddress(host="2001:db8::1", port=636, ldaps=True),
        ServerAddress(host="10.0.0.1", port=3389, ldaps=False),
    ]
