"""Logins by an alias, which may be the name of another user: they clear nothing of that user."""

import pytest

from netautod.core.errors import Unauthenticated
from netautod.identity.auth.models import LoginRequest
from netautod.plugin_api import Identity
from tests.identity.auth.providers.staff import Staff
from tests.identity.auth.support import INFO, Node, start_node
from tests.support.installation import Installation


async def entry_of_mallory(username: str) -> Identity:
    """Return the entry as a directory does that finds it by either name."""
    return Identity(username=username, external_ids=("entry-1",), other_usernames=("mallory", username))


async def log_in(node: Node, username: str, *, provider: str = "acme-staff") -> None:
    request = LoginRequest(username=username, password="a guess, or Mallory's")
    await node.auth.login(provider, request, INFO)


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("bob", id="the name of another user"),
        pytest.param(" BOB", id="in capitals"),
        pytest.param("b\u00f3b", id="with an accent, which directories ignore"),
        pytest.param("mallory", id="the own name"),
        pytest.param("m@example.net", id="a name that no one has"),
    ],
)
async def test_a_login_clears_nothing_of_another_user(installation: Installation, typed: str) -> None:
    node = await start_node(installation, plugins=[Staff(says=entry_of_mallory)])
    await log_in(node, "mallory")
    await installation.add("bob")
    for _ in range(9):
        with pytest.raises(Unauthenticated):
            await log_in(node, "bob", provider="local")
    await log_in(node, typed)
    attempt = await node.lockout.admit(INFO.ip_address, "bob")
    assert attempt.stranger
    assert await node.lockout.failed(attempt) == 0


@pytest.mark.parametrize("name", ["mallory", "m@example.net"])
async def test_a_login_by_an_alias_of_no_one_clears_it_and_the_own_name(
    installation: Installation, name: str
) -> None:
    node = await start_node(installation, plugins=[Staff(says=entry_of_mallory)])
    await log_in(node, "mallory")
    for _ in range(5):
        await node.lockout.failed(await node.lockout.admit(INFO.ip_address, name))
    await log_in(node, "m@example.net")
    attempt = await node.lockout.admit(INFO.ip_address, name)
    assert not attempt.stranger
    assert await node.lockout.failed(attempt) == 9
