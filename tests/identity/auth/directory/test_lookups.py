"""Look-ups after a refresh: when, by which node, and the effects of the provider's answers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from netautod.core.errors import Unauthenticated
from netautod.identity.auth.models import IssuedTokens
from netautod.identity.auth.settings import AuthSettings
from netautod.identity.users.models import NewUser, User
from netautod.plugin_api import (
    AccountEnded,
    LoginEnded,
    Lookup,
    LookupOf,
    ProviderUnavailable,
)
from tests.identity.auth.directory.support import Directory, raising, there
from tests.identity.auth.support import INFO, Node, start_node
from tests.support.installation import Installation

INTERVAL = 900.0


@dataclass(frozen=True, kw_only=True)
class Setup:
    node: Node
    directory: Directory
    user: User

    async def log_in(self, token: str | None = None) -> IssuedTokens:
        return await self.node.auth.begin(
            self.user,
            provider=self.directory.name,
            client_type="admin_ui",
            info=INFO,
            provider_token=token,
        )

    async def refresh(self, tokens: IssuedTokens, node: Node | None = None) -> IssuedTokens:
        """Refresh the session and wait for the look-ups that follow."""
        target = node or self.node
        renewed = await target.auth.refresh(tokens.refresh_token, INFO)
        await target.parts.lookups.settled()
        return renewed

    async def holds(self, tokens: IssuedTokens) -> bool:
        try:
            await self.node.authenticator.authenticate(tokens.access_token, INFO)
        except Unauthenticated:
            return False
        return True

    async def roles(self) -> list[str]:
        found = await self.node.users.find(self.user.id)
        assert found is not None
        return found.role_names

    async def audited(self, action: str) -> list[dict[str, Any]]:
        return [row["details"] for row in await self.node.documents("audit_events", {"action": action})]


async def setup_of(
    installation: Installation, directory: Directory, *roles: str, auth: AuthSettings | None = None
) -> Setup:
    node = await start_node(installation, plugins=[directory], auth=auth)
    new = NewUser(username="ada", roles=roles, auth_provider=directory.name, external_id="entry-1")
    user = await node.users.create(await installation.system(), new)
    return Setup(node=node, directory=directory, user=user)


@pytest.fixture
async def setup(installation: Installation) -> Setup:
    return await setup_of(installation, Directory(), "viewer")


async def test_a_refresh_has_the_user_looked_up_once_in_the_interval(setup: Setup) -> None:
    tokens = await setup.refresh(await setup.log_in())
    other = await setup.log_in()
    tokens = await setup.refresh(tokens)
    await setup.refresh(other)
    assert [user.external_id for user in setup.directory.lookups] == ["entry-1"]
    setup.node.clock.move(INTERVAL - 1)
    tokens = await setup.refresh(tokens)
    assert len(setup.directory.lookups) == 1
    setup.node.clock.move(1)
    await setup.refresh(tokens)
    assert len(setup.directory.lookups) == 2


async def test_a_refresh_does_not_wait_for_the_directory(setup: Setup) -> None:
    setup.directory.open.clear()
    tokens = await setup.node.auth.refresh((await setup.log_in()).refresh_token, INFO)
    await setup.directory.began.wait()
    assert await setup.holds(tokens)
    setup.directory.open.set()
    await setup.node.parts.lookups.settled()


async def test_one_of_two_nodes_looks_up(setup: Setup, installation: Installation) -> None:
    second = await start_node(installation, plugins=[setup.directory])
    first, other = await setup.log_in(), await setup.log_in()
    setup.directory.open.clear()
    await setup.node.auth.refresh(first.refresh_token, INFO)
    await setup.directory.began.wait()
    await setup.refresh(other, second)
    setup.directory.open.set()
    await setup.node.parts.lookups.settled()
    assert len(setup.directory.lookups) == 1


async def test_a_running_look_up_is_not_repeated_however_short_the_interval(
    installation: Installation,
) -> None:
    """Wait five minutes: after that the node that looked up is taken for dead."""
    often = AuthSettings(directory_lookup_seconds=60)
    setup = await setup_of(installation, Directory(), "viewer", auth=often)
    second = await start_node(installation, plugins=[setup.directory], auth=often)
    directory, tokens = setup.directory, await setup.log_in()
    directory.open.clear()
    tokens = await setup.node.auth.refresh(tokens.refresh_token, INFO)
    await directory.began.wait()
    for seconds in (61, 238):
        setup.node.clock.move(seconds)
        tokens = await setup.refresh(tokens, second)
        assert len(directory.lookups) == 1
    directory.began.clear()
    setup.node.clock.move(2)
    await second.auth.refresh(tokens.refresh_token, INFO)
    await directory.began.wait()
    directory.open.set()
    for node in (setup.node, second):
        await node.parts.lookups.settled()
    assert len(directory.lookups) == 2


async def test_an_account_that_is_gone_ends_all_sessions_of_the_user(setup: Setup) -> None:
    first, other = await setup.log_in(), await setup.log_in()
    setup.directory.says = raising(AccountEnded("the directory does not have the user any more"))
    renewed = await setup.refresh(first)
    assert [await setup.holds(tokens) for tokens in (renewed, other)] == [False, False]
    for tokens in (renewed, other):
        with pytest.raises(Unauthenticated):
            await setup.node.auth.refresh(tokens.refresh_token, INFO)
    (details,) = await setup.audited("auth.directory_ended")
    assert details == {
        "auth_provider": "ldap",
        "reason": "the directory does not have the user any more",
        "sessions": 2,
        "username": "ada",
    }


async def test_a_login_during_the_look_up_stands(setup: Setup) -> None:
    setup.directory.says = raising(AccountEnded("gone"))
    setup.directory.open.clear()
    await setup.node.auth.refresh((await setup.log_in()).refresh_token, INFO)
    await setup.directory.began.wait()
    setup.node.clock.move(1)
    later = await setup.log_in()
    setup.directory.open.set()
    await setup.node.parts.lookups.settled()
    assert await setup.holds(later)


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(raising(ProviderUnavailable("no answer")), id="no answer"),
        pytest.param(raising(RuntimeError("a bug")), id="a plugin that fails"),
        pytest.param(Lookup, id="there, and no more is known"),
        pytest.param(lambda: there(entry="entry-2"), id="an answer about another user"),
    ],
)
async def test_what_ends_nothing_and_changes_no_role(
    installation: Installation, says: Callable[[], Lookup]
) -> None:
    setup = await setup_of(installation, Directory(says=says), "operator", "viewer")
    renewed = await setup.refresh(await setup.log_in())
    assert len(setup.directory.lookups) == 1
    assert await setup.holds(renewed)
    assert await setup.roles() == ["operator", "viewer"]
    assert await setup.audited("auth.directory_ended") == []


async def test_roles_follow_the_groups(setup: Setup) -> None:
    setup.directory.says = lambda: there("ops")
    tokens = await setup.refresh(await setup.log_in())
    assert await setup.roles() == ["operator", "viewer"]
    caller = await setup.node.authenticator.authenticate(tokens.access_token, INFO)
    assert caller.can("devices.manage")
    setup.node.clock.move(INTERVAL)
    setup.directory.says = there
    await setup.refresh(tokens)
    assert await setup.roles() == ["viewer"]
    changes = await setup.audited("user.update")
    assert [change["roles"] for change in changes] == [["operator", "viewer"], ["viewer"]]


async def test_the_last_admin_stays_one_whatever_the_directory_says(installation: Installation) -> None:
    setup = await setup_of(installation, Directory(says=lambda: there("ops")), "admin")
    local = await setup.node.users.by_username("admin")
    assert local is not None
    system = await installation.system()
    await setup.node.users.update(system, local.id, {"is_active": False})
    tokens = await setup.refresh(await setup.log_in())
    assert await setup.roles() == ["admin", "operator"]
    await setup.node.users.update(system, local.id, {"is_active": True})
    setup.node.clock.move(INTERVAL)
    await setup.refresh(tokens)
    assert await setup.roles() == ["operator"]


async def test_a_provider_that_cannot_look_up_is_not_called(installation: Installation) -> None:
    setup = await setup_of(installation, Directory(looks_up=None), "viewer")
    await setup.refresh(await setup.log_in())
    assert setup.directory.lookups == []


@pytest.fixture
async def by_login(installation: Installation) -> Setup:
    directory = Directory(name="oidc", looks_up=LookupOf.LOGIN)
    return await setup_of(installation, directory, "viewer")


async def test_the_token_of_a_login_is_sealed_and_replaced(by_login: Setup) -> None:
    by_login.directory.says = lambda: Lookup(refresh_token="second-token")
    tokens = await by_login.refresh(await by_login.log_in("first-token"))
    (row,) = await by_login.node.documents("directory_lookups")
    assert b"first-token" not in str(row).encode()
    assert b"second-token" not in str(row).encode()
    by_login.node.clock.move(INTERVAL)
    tokens = await by_login.refresh(tokens)
    assert [user.refresh_token for user in by_login.directory.lookups] == ["first-token", "second-token"]
    assert "first-token" not in repr(by_login.directory.lookups)


async def test_each_login_is_looked_up_by_its_own_token(by_login: Setup) -> None:
    first, other = await by_login.log_in("token-1"), await by_login.log_in("token-2")
    without = await by_login.log_in()
    for tokens in (first, other, without):
        await by_login.refresh(tokens)
    assert [user.refresh_token for user in by_login.directory.lookups] == ["token-1", "token-2"]


async def test_a_login_that_the_provider_took_back_ends_its_session_alone(by_login: Setup) -> None:
    first, other = await by_login.log_in("token-1"), await by_login.log_in("token-2")
    by_login.directory.says = raising(LoginEnded("the provider has ended the login"))
    renewed = await by_login.refresh(first)
    assert [await by_login.holds(tokens) for tokens in (renewed, other)] == [False, True]
    assert len(await by_login.audited("auth.directory_ended")) == 1
    assert len(await by_login.node.documents("directory_lookups")) == 1


async def test_a_logout_forgets_the_token(by_login: Setup) -> None:
    tokens = await by_login.log_in("token-1")
    await by_login.node.auth.logout(await by_login.node.authenticator.authenticate(tokens.access_token, INFO))
    assert await by_login.node.documents("directory_lookups") == []


async def test_a_node_that_died_in_its_turn_blocks_no_other_for_long(by_login: Setup) -> None:
    tokens = await by_login.log_in("token-1")
    by_login.directory.open.clear()
    tokens = await by_login.node.auth.refresh(tokens.refresh_token, INFO)
    await by_login.directory.began.wait()
    for task in asyncio.all_tasks():
        if task.get_name() == "look-up at oidc":
            task.cancel()
    await by_login.node.parts.lookups.settled()
    by_login.directory.open.set()
    by_login.node.clock.move(INTERVAL)
    await by_login.refresh(tokens)
    assert [user.refresh_token for user in by_login.directory.lookups] == ["token-1", "token-1"]
