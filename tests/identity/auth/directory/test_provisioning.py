"""Identities of a directory and their users: found, linked, created, or refused."""

from typing import Any

import pytest

from netautod.core.errors import Unauthenticated
from netautod.identity.auth.models import LoginRequest
from netautod.identity.users.models import NewUser, User
from netautod.plugin_api import ProvisioningRules, RoleMap
from tests.identity.auth.directory.support import Directory
from tests.identity.auth.support import INFO, Node, start_node
from tests.support.installation import Installation

ROLE_MAP = RoleMap.parse(["operator = ops", "admin = root"])
OPEN: dict[str, Any] = {"auto_provision": True, "default_roles": ("viewer",)}


async def node_of(installation: Installation, **rules: Any) -> Node:
    return await start_node(installation, plugins=[Directory(provisioning=ProvisioningRules(**rules))])


async def login(node: Node, username: str = "ada") -> User | None:
    try:
        await node.auth.login("ldap", LoginRequest(username=username, password="right"), INFO)
    except Unauthenticated:
        return None
    return await node.users.by_username(username)


async def test_a_first_login_makes_the_user_and_the_next_finds_it(installation: Installation) -> None:
    node = await node_of(installation, **OPEN)
    made = await login(node)
    assert made is not None
    assert (made.role_names, made.auth_provider, made.external_id) == (["viewer"], "ldap", "entry-1")
    assert made.org_id == await installation.organizations.default_id()
    again = await login(node)
    assert again is not None
    assert again.id == made.id


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param({}, id="no user is created"),
        pytest.param({"auto_provision": True, "role_map": ROLE_MAP}, id="no group gives a role"),
        pytest.param({**OPEN, "organization": "nowhere"}, id="the organization is unknown"),
    ],
)
async def test_who_is_not_admitted_is_not_made(installation: Installation, rules: dict[str, Any]) -> None:
    node = await node_of(installation, **rules)
    assert await login(node) is None
    assert await node.users.by_username("ada") is None


@pytest.mark.parametrize(
    ("there", "admitted"),
    [
        pytest.param({"auth_provider": "ldap"}, True, id="made for the directory, and not bound yet"),
        pytest.param({"auth_provider": "ldap", "external_id": "entry-2"}, False, id="bound to another entry"),
        pytest.param({"auth_provider": "local", "password": "a long enough one"}, False, id="a local user"),
        pytest.param({"auth_provider": "oidc", "external_id": "entry-1"}, False, id="another provider's id"),
    ],
)
async def test_the_owner_of_a_name(installation: Installation, there: dict[str, Any], admitted: bool) -> None:
    node = await node_of(installation, **OPEN)
    new = NewUser(username="ada", roles=("operator",), **there)
    made = await node.users.create(await installation.system(), new)
    found = await login(node)
    assert (found is not None) is admitted
    kept = await node.users.find(made.id)
    assert kept is not None
    assert kept.role_names == ["operator"]
    assert kept.external_id == ("entry-1" if admitted else there.get("external_id"))


async def test_a_disabled_user_stays_outside(installation: Installation) -> None:
    node = await node_of(installation, **OPEN)
    made = await login(node)
    assert made is not None
    await node.users.update(await installation.system(), made.id, {"is_active": False})
    assert await login(node) is None
