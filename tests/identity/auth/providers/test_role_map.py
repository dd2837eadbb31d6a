"""Lines ROLE = GROUP: which groups give which roles, and which roles a login removes."""

import pytest

from netautod.identity.auth.providers.role_map import granted, roles_after_login
from netautod.plugin_api import RoleMap

ADMINS = "cn=Net Admins,ou=groups,dc=example,dc=net"


@pytest.mark.parametrize(
    ("line", "group", "gives"),
    [
        pytest.param("r = net-admins", "net-admins", True, id="a plain name"),
        pytest.param("r = net-admins", "Net-Admins", False, id="a plain name in another case"),
        pytest.param("r=a = b", "a = b", True, id="a name with an equals sign"),
        pytest.param(f"r = {ADMINS}", ADMINS, True, id="an LDAP name"),
        pytest.param(
            f"r = {ADMINS}", "CN=net admins, OU=Groups,dc=example,DC=net", True, id="spelt otherwise"
        ),
        pytest.param(f"r = {ADMINS}", "cn=Net Admins,ou=other,dc=example,dc=net", False, id="another place"),
        pytest.param("r = Net Admins", ADMINS, True, id="the first part of an LDAP name"),
        pytest.param("r = net  admins", ADMINS, True, id="the first part in another case"),
        pytest.param("r = groups", ADMINS, False, id="a later part of an LDAP name"),
        pytest.param("r = admins", "cn=admins+uid=x,dc=y", False, id="a part of two"),
        pytest.param("r = cn=admins", "cn=admins,dc=y", False, id="the beginning of an LDAP name"),
    ],
)
def test_groups(line: str, group: str, gives: bool) -> None:
    assert granted(RoleMap.parse([line]), [group]) == (frozenset({"r"}) if gives else frozenset())


@pytest.mark.parametrize(
    ("held", "groups", "after"),
    [
        pytest.param([], ["ops"], ["operator"], id="a group gives its role"),
        pytest.param([], ["ops", "all"], ["operator", "viewer"], id="two groups give two"),
        pytest.param(["operator"], [], [], id="a lost group takes its role"),
        pytest.param(["special"], [], ["special"], id="a role that no line names stays"),
        pytest.param(["special", "operator"], ["all"], ["special", "viewer"], id="all of it together"),
    ],
)
def test_roles_after_a_login(held: list[str], groups: list[str], after: list[str]) -> None:
    role_map = RoleMap.parse(["operator = ops", "operator = old-ops", "viewer = all"])
    assert roles_after_login(role_map, held, groups) == after


@pytest.mark.parametrize(
    ("held", "groups", "possible", "after"),
    [
        pytest.param(["viewer"], ["all, ops"], ["all", "ops"], ["viewer"], id="a held role stays"),
        pytest.param([], ["all, ops"], ["all", "ops"], [], id="no role is given"),
        pytest.param(["viewer"], ["x, y"], ["x", "y"], [], id="a role that no part gives goes"),
        pytest.param(["viewer"], ["old-ops"], ["all"], ["operator"], id="the groups give a role: they count"),
        pytest.param(["special"], ["x, y"], ["x", "y"], ["special"], id="a role that no line names stays"),
    ],
)
def test_groups_that_are_only_possible_keep_roles(
    held: list[str], groups: list[str], possible: list[str], after: list[str]
) -> None:
    role_map = RoleMap.parse(["operator = ops", "operator = old-ops", "viewer = all"])
    assert roles_after_login(role_map, held, groups, possible) == after


@pytest.mark.parametrize("line", ["", "role", "= group", "role =", " = "])
def test_lines_that_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="ROLE = GROUP"):
        RoleMap.parse([line])
