"""LDAP names in one spelling, whatever the server or an administrator wrote."""

import pytest

from netautod.identity.users.external_ids import canonical_external_id, canonical_name, first_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("uid=ada,ou=people,dc=net", "uid=ada,ou=people,dc=net", id="plain"),
        pytest.param("UID=Ada, OU=People ,DC=Net", "uid=ada,ou=people,dc=net", id="case and spaces"),
        pytest.param("cn=Doe\\, Jane,dc=net", "cn=doe\\, jane,dc=net", id="an escaped comma"),
        pytest.param("cn=Doe\\2C Jane,dc=net", "cn=doe\\, jane,dc=net", id="a comma in hexadecimal"),
        pytest.param('cn="Doe, Jane",dc=net', "cn=doe\\, jane,dc=net", id="a comma between quotes"),
        pytest.param("cn=a;dc=net", "cn=a,dc=net", id="a semicolon as separator"),
        pytest.param("cn=a  b,dc=net", "cn=a b,dc=net", id="two spaces inside"),
        pytest.param("sn=x+cn=y,dc=net", "cn=y+sn=x,dc=net", id="a part of two, in another order"),
        pytest.param("cn=J\\C3\\BCrgen,dc=net", "cn=j\u00fcrgen,dc=net", id="UTF-8 in hexadecimal"),
        pytest.param("cn=J\u00dcRGEN,dc=net", "cn=j\u00fcrgen,dc=net", id="letters outside ASCII"),
        pytest.param("cn=a\\\\b,dc=net", "cn=a\\\\b,dc=net", id="an escaped backslash"),
        pytest.param("cn=a=b,dc=net", "cn=a\\=b,dc=net", id="an equals sign in the value"),
        pytest.param("OID.2.5.4.3=a", "2.5.4.3=a", id="a type in numbers"),
        pytest.param("cn=,dc=net", "cn=,dc=net", id="an empty value"),
        pytest.param("", None, id="empty"),
        pytest.param("ada", None, id="no name at all"),
        pytest.param("=a,dc=net", None, id="no type"),
        pytest.param("cn=a,,dc=net", None, id="an empty part"),
        pytest.param("cn=a\\", None, id="a backslash at the end"),
        pytest.param("cn=\\FF\\FE", None, id="bytes that are no text"),
        pytest.param("c n=a", None, id="a space in the type"),
    ],
)
def test_canonical_names(text: str, expected: str | None) -> None:
    assert canonical_name(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("cn=a\\,b,dc=net", "cn=a,b=,dc=net", id="a comma in a value and a part more"),
        pytest.param("cn=a\\+b=c,dc=net", "cn=a+b=c,dc=net", id="a plus in a value and a part of two"),
        pytest.param("cn=ab,dc=net", "cn=a b,dc=net", id="a space"),
    ],
)
def test_different_entries_stay_different(one: str, other: str) -> None:
    assert canonical_name(one) != canonical_name(other)


@pytest.mark.parametrize(
    ("provider", "text", "expected"),
    [
        pytest.param("ldap", "CN=A,DC=B", "cn=a,dc=b", id="an LDAP name"),
        pytest.param(
            "ldap",
            " A7042A00-79E2-1041-9AE9-F1DC55EB780E ",
            "a7042a00-79e2-1041-9ae9-f1dc55eb780e",
            id="a UUID",
        ),
        pytest.param("ldap", "something else", "something else", id="neither"),
        pytest.param("oidc", "CN=A,DC=B", "CN=A,DC=B", id="a subject that looks like a name"),
        pytest.param("oidc", " Sub ", " Sub ", id="a subject"),
    ],
)
def test_external_ids(provider: str, text: str, expected: str) -> None:
    assert canonical_external_id(provider, text) == expected


def test_the_first_value() -> None:
    assert first_value("CN=Net  Admins,ou=x") == "net admins"
    assert first_value("cn=a+uid=b,ou=x") is None
    assert first_value("no name") is None
