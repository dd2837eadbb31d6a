"""Users of a real slapd who are looked up again: gone, disabled, moved; unreadable data ends nothing."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from netautod.plugin_api import AccountEnded, Identity, KnownUser, LookupOf, ProviderUnavailable
from netautod_ldap import LdapSettings
from netautod_ldap.disabled import why_disabled
from netautod_ldap.provider import LdapProvider
from netautod_ldap.session import Entry
from tests.plugins.ldap.conftest import SearchSettings, authenticate
from tests.support.programs.slapd import BASE, BLIND, GRACE, PASSWORD, Slapd, changed

ALAN = f"uid=alan,ou=people,{BASE}"
GROUP = f"cn=operators,ou=groups,{BASE}"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


async def again(settings: LdapSettings, user: KnownUser) -> Identity | None:
    provider = LdapProvider(settings)
    try:
        return (await provider.look_up(user)).identity
    finally:
        await provider.close()


@pytest.fixture
async def alan(directory: Slapd, searching: SearchSettings) -> AsyncIterator[KnownUser]:
    """Yield a user who has logged in once, and is an operator; removed after the test."""
    entry = "objectClass: inetOrgPerson\nobjectClass: shadowAccount\ncn: Alan\nsn: Turing\nuid: alan"
    await changed(
        directory,
        f"dn: {ALAN}\nchangetype: add\n{entry}\nuserPassword: {PASSWORD}",
        f"dn: {GROUP}\nchangetype: modify\nadd: uniqueMember\nuniqueMember: {ALAN}",
    )
    identity = await authenticate(searching(), "alan", PASSWORD)
    assert identity is not None
    yield KnownUser(username="alan", external_id=identity.external_ids[0])
    places = (ALAN, f"uid=turing,ou=people,{BASE}", f"uid=alan,{BASE}", f"uid=alan,ou=groups,{BASE}")
    await changed(
        directory,
        *(f"dn: {place}\nchangetype: delete" for place in places),
        f"dn: {GROUP}\nchangetype: modify\ndelete: uniqueMember\nuniqueMember: {ALAN}",
        lenient=True,
    )


def moved(name: str, above: str) -> str:
    return f"dn: {ALAN}\nchangetype: modrdn\nnewrdn: {name}\ndeleteoldrdn: 1\nnewsuperior: {above}"


async def test_a_user_who_is_there_has_the_groups_of_now(
    directory: Slapd, searching: SearchSettings, alan: KnownUser
) -> None:
    found = await again(searching(), alan)
    assert found is not None
    assert (found.username, found.external_ids[0], list(found.groups)) == ("alan", alan.external_id, [GROUP])
    await changed(directory, f"dn: {GROUP}\nchangetype: modify\ndelete: uniqueMember\nuniqueMember: {ALAN}")
    found = await again(searching(), alan)
    assert found is not None
    assert found.groups == ()


@pytest.mark.parametrize(
    ("change", "settings", "reason"),
    [
        pytest.param(f"dn: {ALAN}\nchangetype: delete", {}, "not have the user", id="deleted"),
        pytest.param(
            moved("uid=alan", f"ou=groups,{BASE}"), {}, "not have the user", id="moved away from users"
        ),
        pytest.param(
            f"dn: {ALAN}\nchangetype: modify\nadd: shadowExpire\nshadowExpire: 1",
            {},
            "shadowExpire",
            id="expired",
        ),
        pytest.param(
            f"dn: {ALAN}\nchangetype: modify\nadd: employeeType\nemployeeType: former",
            {"disabled_filter": "(employeeType=former)"},
            "disabled_filter",
            id="disabled, as the settings say it",
        ),
        pytest.param(
            f"dn: {ALAN}\nchangetype: modify\nadd: employeeType\nemployeeType: former",
            {"user_filter": "(&(uid={username})(!(employeeType=former)))"},
            "user_filter",
            id="not admitted any more",
        ),
    ],
)
async def test_who_has_left(
    directory: Slapd,
    searching: SearchSettings,
    alan: KnownUser,
    change: str,
    settings: dict[str, str],
    reason: str,
) -> None:
    assert await again(searching(**settings), alan) is not None
    await changed(directory, change)
    with pytest.raises(AccountEnded, match=reason):
        await again(searching(**settings), alan)


async def test_a_user_with_a_new_name_in_a_new_place_is_the_same(
    directory: Slapd, searching: SearchSettings, alan: KnownUser
) -> None:
    await changed(directory, moved("uid=turing", f"ou=people,{BASE}"))
    found = await again(searching(), alan)
    assert found is not None
    assert (found.username, found.external_ids[0]) == ("turing", alan.external_id)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"bind_dn": GRACE, "bind_password": PASSWORD}, id="an entry that reads itself alone"),
        pytest.param(
            {"bind_dn": BLIND, "base_dn": BASE, "user_filter": "(&(uid={username})(!(uid=twin)))"},
            id="one that sees all but the people",
        ),
        pytest.param({"base_dn": f"ou=nowhere,{BASE}"}, id="a base that there is not"),
        pytest.param({"bind_password": "wrong"}, id="a wrong password of its own"),
        pytest.param({"user_filter": "(gecos={username})"}, id="a filter that no user matches"),
        pytest.param({"id_attribute": ""}, id="no attribute for the id"),
        pytest.param({"urls": ("ldap://127.0.0.1:1",)}, id="no server"),
        pytest.param({"username_attribute": "gecos"}, id="an attribute that no user has"),
    ],
)
async def test_a_service_that_may_not_see_the_user_ends_nothing(
    directory: Slapd, searching: SearchSettings, alan: KnownUser, settings: dict[str, object]
) -> None:
    with pytest.raises(ProviderUnavailable):
        await again(searching(**settings), alan)


async def test_groups_that_may_not_be_seen_take_no_role_away(
    searching: SearchSettings, alan: KnownUser
) -> None:
    for settings, reason in (
        ({"group_base_dn": f"ou=nowhere,{BASE}"}, f"the directory shows no entry 'ou=nowhere,{BASE}'"),
        ({"group_base_dn": f"cn=reader,{BASE}"}, f"the directory shows no group below 'cn=reader,{BASE}'"),
        ({"group_base_dn": "", "group_attribute": "gecos"}, "the directory shows gecos of no user"),
    ):
        for found in (await again(searching(**settings), alan), await login(searching(**settings))):
            assert found is not None
            assert found.groups_unknown == reason


async def login(settings: LdapSettings) -> Identity | None:
    return await authenticate(settings, "alan", PASSWORD)


async def test_a_user_without_an_id_is_known_by_name_or_dn(
    searching: SearchSettings, alan: KnownUser
) -> None:
    for known in (None, ALAN, ALAN.upper()):
        assert await again(searching(), KnownUser(username="alan", external_id=known)) is not None
    with pytest.raises(AccountEnded):
        await again(searching(), KnownUser(username="alan", external_id=f"uid=nobody,ou=people,{BASE}"))


def test_only_an_entry_of_its_own_lets_the_service_look_up(searching: SearchSettings) -> None:
    assert LdapProvider(searching()).looks_up is LookupOf.ACCOUNT
    assert LdapProvider(searching(bind_dn="", bind_password="")).looks_up is None


FILETIME_2026_01_01 = "134116992000000000"


@pytest.mark.parametrize(
    ("attribute", "value", "disabled"),
    [
        pytest.param("userAccountControl", "514", True, id="Active Directory: disabled"),
        pytest.param("userAccountControl", "512", False, id="Active Directory: a normal account"),
        pytest.param("userAccountControl", "528", False, id="Active Directory: locked by wrong passwords"),
        pytest.param("accountExpires", FILETIME_2026_01_01, True, id="Active Directory: expired"),
        pytest.param("accountExpires", "0", False, id="Active Directory: never expires"),
        pytest.param("accountExpires", "9223372036854775807", False, id="Active Directory: never, too"),
        pytest.param("accountExpires", "139000000000000000", False, id="Active Directory: expires later"),
        pytest.param("nsAccountLock", "TRUE", True, id="389: inactivated"),
        pytest.param("nsAccountLock", "false", False, id="389: active"),
        pytest.param("pwdAccountLockedTime", "000001010000Z", True, id="OpenLDAP: locked for good"),
        pytest.param("pwdAccountLockedTime", "20260531120000Z", False, id="OpenLDAP: locked for a while"),
        pytest.param("pwdEndTime", "20260101000000Z", True, id="OpenLDAP: ended"),
        pytest.param("shadowExpire", "20000", True, id="shadow: expired in 2024"),
        pytest.param("shadowExpire", "-1", False, id="shadow: no expiry"),
        pytest.param("shadowExpire", "0", False, id="shadow: says nothing"),
        pytest.param("loginDisabled", "TRUE", True, id="eDirectory: disabled"),
        pytest.param("krbPrincipalExpiration", "20270101000000Z", False, id="Kerberos: expires later"),
        pytest.param("shadowExpire", "soon", False, id="no number"),
        pytest.param("accountExpires", "9" * 40, False, id="a number that is no time"),
    ],
)
def test_the_marks_of_disabled_accounts(attribute: str, value: str, disabled: bool) -> None:
    entry = Entry(dn=ALAN, attributes={attribute: [value.encode()]})
    reason = why_disabled(entry, NOW)
    assert (reason is not None) is disabled
    assert reason is None or attribute in reason
