"""The reads of users at a login: one, with roles and password hash, whoever checks the password."""

import pytest

from netautod.core.errors import Unauthenticated
from netautod.identity.auth.models import LoginRequest
from netautod.identity.users.store import USERS
from netautod.plugin_api import ProvisioningRules
from tests.identity.auth.directory.support import Directory
from tests.identity.auth.support import INFO, Node, NodeStarter, start_node
from tests.support.installation import PASSWORD, Installation


async def fail_to_log_in(node: Node, provider: str, username: str, password: str) -> None:
    with pytest.raises(Unauthenticated):
        await node.auth.login(provider, LoginRequest(username=username, password=password), INFO)


async def test_a_login_with_a_local_password_reads_the_user_once(
    start: NodeStarter, reads: list[str]
) -> None:
    node = await start()
    reads.clear()
    await node.log_in()
    assert reads.count(USERS) == 1
    reads.clear()
    await node.parts.page_logins.log_in("local", "admin", PASSWORD, INFO)
    assert reads.count(USERS) == 1


@pytest.mark.parametrize("username", ["admin", "unknown"])
async def test_a_failed_login_reads_as_often_for_known_and_unknown_users(
    start: NodeStarter, reads: list[str], username: str
) -> None:
    node = await start()
    reads.clear()
    await fail_to_log_in(node, "local", username, "wrong")
    assert reads.count(USERS) == 1


async def test_a_login_through_a_directory_reads_a_known_user_once(
    installation: Installation, reads: list[str]
) -> None:
    rules = ProvisioningRules(auto_provision=True, default_roles=("viewer",))
    node = await start_node(installation, plugins=[Directory(provisioning=rules)])
    request = LoginRequest(username="Ada", password="right")
    await node.auth.login("ldap", request, INFO)
    reads.clear()
    await node.auth.login("ldap", request, INFO)
    assert reads.count(USERS) == 1
