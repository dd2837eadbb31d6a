"""Refresh tokens: used once, replayed, expired, and revoked by logout and password change."""

import asyncio
from collections.abc import Callable

import pytest

from netautod.core.errors import Unauthenticated
from netautod.identity.auth.models import IssuedTokens
from netautod.identity.auth.sessions.store import RefreshTokenStore, SessionStore
from netautod.identity.users.service import UserService
from tests.identity.auth.support import INFO, Node, NodeStarter
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD

DAY = 86400


async def refused(node: Node, refresh_token: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        await node.auth.refresh(refresh_token, INFO)
    assert caught.value.text == "Invalid or expired token"


async def works(node: Node, tokens: IssuedTokens) -> bool:
    try:
        await node.authenticator.authenticate(tokens.access_token, INFO)
    except Unauthenticated:
        return False
    return True


async def test_of_fifty_refreshes_at_once_over_two_nodes_one_succeeds(
    start: NodeStarter, http: Callable[[Node], ApiClient]
) -> None:
    nodes = [await start(), await start()]
    clients = [http(node) for node in nodes]
    tokens = await nodes[0].log_in()
    body = {"refresh_token": tokens.refresh_token}
    answers = await asyncio.gather(
        *(clients[number % 2].post("/api/auth/refresh", body) for number in range(50))
    )
    assert sorted(answer.status for answer in answers) == [200] + [401] * 49
    won = next(answer.json for answer in answers if answer.status == 200)
    assert (won["token_type"], won["expires_in"]) == ("Bearer", 3600)
    again = await clients[1].post("/api/auth/refresh", {"refresh_token": won["refresh_token"]})
    assert again.status == 200
    assert await works(nodes[0], tokens)
    # One per generation: what the losers had prepared is gone.
    assert len(await nodes[0].documents("refresh_tokens")) == 3
    assert (await nodes[0].actions()).count("auth.refresh_reuse") == 49


async def test_a_second_use_within_ten_seconds_revokes_nothing(node: Node) -> None:
    first = await node.log_in()
    second = await node.auth.refresh(first.refresh_token, INFO)
    node.clock.move(10)
    await refused(node, first.refresh_token)
    assert await works(node, second)
    assert (await node.auth.refresh(second.refresh_token, INFO)).expires_in == 3600
    assert (await node.actions())[-1] == "auth.refresh_reuse"


async def test_a_later_replay_ends_the_whole_family(start: NodeStarter) -> None:
    node, other = await start(), await start()
    first, bystander = await node.log_in(), await node.log_in()
    second = await node.auth.refresh(first.refresh_token, INFO)
    third = await other.auth.refresh(second.refresh_token, INFO)
    node.clock.move(10.001)
    await refused(node, first.refresh_token)
    assert (await node.actions())[-1] == "auth.refresh_replay"
    assert not await works(node, third)
    assert not await works(other, third)
    await refused(other, third.refresh_token)
    assert await works(node, bystander)
    await node.auth.refresh(bystander.refresh_token, INFO)


async def test_a_refresh_token_expires(node: Node) -> None:
    tokens = await node.log_in()
    node.clock.move(7 * DAY)
    await refused(node, tokens.refresh_token)


async def test_a_family_ends_after_thirty_days_however_often_it_is_refreshed(node: Node) -> None:
    tokens = await node.log_in()
    for _ in range(5):
        node.clock.move(6 * DAY - 60)
        tokens = await node.auth.refresh(tokens.refresh_token, INFO)
    assert tokens.expires_in == 3600  # never shortened: clients refresh 300 s early
    node.clock.move(300)
    await refused(node, tokens.refresh_token)
    assert await works(node, tokens)
    node.clock.move(3300)
    assert not await works(node, tokens)


async def test_logout_revokes_the_refresh_tokens_of_all_sessions_but_ends_one(node: Node) -> None:
    first, second = await node.log_in(), await node.log_in()
    caller = await node.authenticator.authenticate(first.access_token, INFO)
    assert await node.auth.logout(caller) == 1
    assert await node.auth.logout(caller) == 0
    assert not await works(node, first)
    assert await works(node, second)
    for tokens in (first, second):
        await refused(node, tokens.refresh_token)
    assert (await node.auth.refresh((await node.log_in()).refresh_token, INFO)).expires_in == 3600


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        pytest.param(UserService, "find", id="after the user was read"),
        pytest.param(RefreshTokenStore, "insert", id="after the new token was stored"),
        pytest.param(RefreshTokenStore, "use", id="after the old token was used up"),
    ],
)
async def test_a_logout_in_the_middle_of_a_refresh_revokes_what_comes_out_of_it(
    node: Node, monkeypatch: pytest.MonkeyPatch, owner: type, step: str
) -> None:
    first, second = await node.log_in(), await node.log_in()
    caller = await node.authenticator.authenticate(first.access_token, INFO)
    real = getattr(owner, step)

    async def then_log_out(self: object, *args: object) -> object:
        result = await real(self, *args)
        monkeypatch.setattr(owner, step, real)
        await node.auth.logout(caller)
        return result

    monkeypatch.setattr(owner, step, then_log_out)
    issued = await node.auth.refresh(second.refresh_token, INFO)
    await refused(node, issued.refresh_token)


async def test_an_end_of_the_session_in_the_middle_of_a_refresh_wins(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = await node.log_in()
    caller = await node.authenticator.authenticate(tokens.access_token, INFO)
    real = SessionStore.prolong

    async def ended_before(self: SessionStore, *args: object) -> bool:
        await node.auth.logout(caller)
        return await real(self, *args)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(SessionStore, "prolong", ended_before)
        await refused(node, tokens.refresh_token)


async def test_a_refresh_that_dies_before_it_uses_the_token_up_can_be_repeated(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = await node.log_in()

    async def die(self: object, *args: object) -> None:
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr(RefreshTokenStore, "use", die)
        with pytest.raises(KeyError):
            await node.auth.refresh(tokens.refresh_token, INFO)
    assert await works(node, await node.auth.refresh(tokens.refresh_token, INFO))


@pytest.mark.parametrize("how", ["disabled", "password reset", "deleted", "row switched off by hand"])
async def test_what_happens_to_the_user_ends_his_tokens(node: Node, how: str) -> None:
    installation = node.installation
    user = await installation.add("carla", "viewer")
    tokens = await node.log_in("carla")
    assert await works(node, tokens)
    if how == "disabled":
        await installation.users.disable(await installation.system(), "carla")
    elif how == "password reset":
        await installation.users.set_password(await installation.system(), "carla", "another long password")
    elif how == "deleted":
        await installation.database.collection("users").delete({"_id": user.id})
    else:
        rows = installation.database.collection("users")
        await rows.update({"_id": user.id}, {"$set": {"is_active": False}})
    await refused(node, tokens.refresh_token)
    node.clock.move(1)
    assert not await works(node, tokens)


async def test_refreshed_tokens_carry_the_roles_of_today(node: Node) -> None:
    await node.installation.add("carla", "viewer")
    tokens = await node.log_in("carla")
    await node.installation.database.collection("users").update(
        {"username": "carla"}, {"$set": {"role_ids": []}}
    )
    again = await node.auth.refresh(tokens.refresh_token, INFO)
    assert await works(node, again)
    node.clock.move(1)
    assert (await node.authenticator.authenticate(tokens.access_token, INFO)).permissions == frozenset()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"refresh_token": "nonsense"}, 401, id="unknown token"),
        pytest.param({"refresh_token": "a" * 4096}, 401, id="long unknown token"),
        pytest.param({"refresh_token": ""}, 400, id="empty"),
        pytest.param({}, 400, id="missing"),
        pytest.param({"refresh_token": {"$ne": ""}}, 400, id="operator object"),
        pytest.param({"refresh_token": None}, 400, id="null"),
        pytest.param({"refresh_token": "a", "user_id": "b"}, 400, id="one more field"),
    ],
)
async def test_a_bad_refresh_body(
    untouched: Node, http: Callable[[Node], ApiClient], body: dict[str, object], status: int
) -> None:
    assert_error(await http(untouched).post("/api/auth/refresh", body), status)


async def test_an_access_token_is_no_refresh_token_and_the_other_way_round(node: Node) -> None:
    tokens = await node.log_in(password=PASSWORD)
    await refused(node, tokens.access_token)
    with pytest.raises(Unauthenticated):
        await node.authenticator.authenticate(tokens.refresh_token, INFO)
