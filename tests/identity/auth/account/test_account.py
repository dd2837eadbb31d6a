"""One's own sessions and password over HTTP, and what users.manage adds to them."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.errors import Unauthenticated
from netautod.identity.auth.models import IssuedTokens, LoginRequest
from netautod.identity.users.models import NewUser
from netautod.identity.users.service import UserService
from tests.identity.auth.support import INFO, Node, NodeStarter
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
NEW_PASSWORD = "another long password"
WRONG = "wrong horse battery staple"


@pytest.fixture
async def client(node: Node, http: Http) -> ApiClient:
    return http(node)


async def works(node: Node, tokens: IssuedTokens) -> bool:
    try:
        await node.authenticator.authenticate(tokens.access_token, INFO)
    except Unauthenticated:
        return False
    return True


async def refreshes(node: Node, tokens: IssuedTokens) -> bool:
    try:
        await node.auth.refresh(tokens.refresh_token, INFO)
    except Unauthenticated:
        return False
    return True


async def sessions_of(client: ApiClient, query: str = "") -> list[dict[str, Any]]:
    answer = await client.get(f"/api/auth/sessions{query}")
    assert answer.status == 200
    listed: list[dict[str, Any]] = answer.json["sessions"]
    return listed


async def test_the_list_shows_living_sessions_newest_first(node: Node, client: ApiClient) -> None:
    tokens = []
    for number in range(3):
        node.clock.move(number)
        tokens.append(await node.log_in())
    await node.installation.add("carla", "viewer")
    await node.log_in("carla")
    api = client.with_token(tokens[1].access_token)
    listed = await sessions_of(api)
    assert [session["current"] for session in listed] == [False, True, False]
    assert [session["created_at"] for session in listed] == sorted(
        (session["created_at"] for session in listed), reverse=True
    )
    facts = ("client_type", "auth_provider", "ip_address", "user_agent")
    assert [listed[1][name] for name in facts] == ["admin_ui", "local", "192.0.2.1", "tests"]
    await client.with_token(tokens[2].access_token).post("/api/auth/logout")
    assert len(await sessions_of(api)) == 2
    node.clock.move(8 * 86400)
    again = client.with_token((await node.log_in()).access_token)
    assert [session["current"] for session in await sessions_of(again)] == [True]


async def test_a_session_is_ended_once_here_at_once_and_elsewhere_within_a_second(
    start: NodeStarter, http: Http
) -> None:
    here, elsewhere = await start(), await start()
    own, other = await here.log_in(), await here.log_in()
    assert await works(here, other)
    assert await works(elsewhere, other)
    api = http(here).with_token(own.access_token)
    (target,) = [session["id"] for session in await sessions_of(api) if not session["current"]]
    assert (await api.delete(f"/api/auth/sessions/{target}")).status == 204
    assert not await works(here, other)
    assert not await refreshes(elsewhere, other)
    assert_error(await api.delete(f"/api/auth/sessions/{target}"), 404, "Session not found")
    elsewhere.clock.move(1)
    assert not await works(elsewhere, other)
    assert await works(here, own)


async def test_the_current_session_can_be_ended(node: Node, client: ApiClient) -> None:
    api = client.with_token((await node.log_in()).access_token)
    (session,) = await sessions_of(api)
    assert (await api.delete(f"/api/auth/sessions/{session['id']}")).status == 204
    assert_error(await api.get("/api/auth/sessions"), 401)


async def test_the_others_are_ended_and_counted(start: NodeStarter, http: Http) -> None:
    here, elsewhere = await start(), await start()
    tokens = [await here.log_in() for _ in range(4)]
    await here.installation.add("carla", "viewer")
    carla = await here.log_in("carla")
    for found in tokens:
        assert await works(elsewhere, found)
    api = http(here).with_token(tokens[0].access_token)
    answer = await api.delete("/api/auth/sessions/other")
    assert (answer.status, set(answer.json)) == (200, {"message", "sessions_revoked"})
    assert answer.json["sessions_revoked"] == 3
    assert [await works(here, found) for found in tokens] == [True, False, False, False]
    assert [await refreshes(here, found) for found in tokens] == [True, False, False, False]
    elsewhere.clock.move(1)
    assert [await works(elsewhere, found) for found in tokens] == [True, False, False, False]
    assert await works(here, carla)
    assert (await api.delete("/api/auth/sessions/other")).json["sessions_revoked"] == 0
    events = (await api.get("/api/audit?action=auth.sessions_revoke")).json
    assert [event["details"]["sessions_revoked"] for event in events["events"]] == [0, 3]


async def test_only_who_manages_users_sees_and_ends_the_sessions_of_others(
    node: Node, client: ApiClient
) -> None:
    carla = await node.installation.add("carla", "viewer")
    admin = client.with_token((await node.log_in()).access_token)
    api = client.with_token((await node.log_in("carla")).access_token)
    (theirs,) = await sessions_of(admin)
    (own,) = await sessions_of(api, f"?user_id={carla.id}")
    assert own["current"] is True
    assert_error(await api.get(f"/api/auth/sessions?user_id={theirs['user_id']}"), 403)
    assert_error(await api.get(f"/api/auth/sessions?user_id={uuid4()}"), 403)
    assert_error(await api.delete(f"/api/auth/sessions/{theirs['id']}"), 404, "Session not found")
    (seen,) = await sessions_of(admin, f"?user_id={carla.id}")
    assert (seen["id"], seen["current"]) == (own["id"], False)
    assert_error(await admin.get(f"/api/auth/sessions?user_id={uuid4()}"), 404, "User not found")
    assert_error(await admin.get("/api/auth/sessions?user_id=nonsense"), 400, "user_id")
    assert (await admin.delete(f"/api/auth/sessions/{own['id']}")).status == 204
    assert_error(await api.get("/api/auth/me"), 401)


async def test_a_weaker_manager_of_users_cannot_end_a_session_of_an_admin(
    node: Node, client: ApiClient
) -> None:
    admin = client.with_token((await node.log_in()).access_token)
    await admin.post("/api/roles", {"name": "helper", "permissions": ["users.manage"]})
    await node.installation.add("carla", "helper")
    carla = client.with_token((await node.log_in("carla")).access_token)
    (theirs,) = await sessions_of(admin)
    assert [found["id"] for found in await sessions_of(carla, f"?user_id={theirs['user_id']}")] == [
        theirs["id"]
    ]
    assert_error(await carla.delete(f"/api/auth/sessions/{theirs['id']}"), 403, "you do not hold")


async def test_who_has_to_change_the_password_first_sees_and_ends_no_session_of_others(
    node: Node, client: ApiClient
) -> None:
    admin = client.with_token((await node.log_in()).access_token)
    (theirs,) = await sessions_of(admin)
    handed = {"username": "bob", "password": PASSWORD, "roles": ["admin"], "must_change_password": True}
    assert (await admin.post("/api/users", handed)).status == 201
    bob = client.with_token((await node.log_in("bob")).access_token)
    assert len(await sessions_of(bob)) == 1
    assert_error(await bob.get(f"/api/auth/sessions?user_id={theirs['user_id']}"), 403, "Change your")
    assert_error(await bob.delete(f"/api/auth/sessions/{theirs['id']}"), 403, "Change your password first")


async def test_another_organizations_sessions_are_not_there(node: Node, client: ApiClient) -> None:
    await node.installation.organizations.create_organization("b", admin="berta", password=PASSWORD)
    admin = client.with_token((await node.log_in()).access_token)
    berta = client.with_token((await node.log_in("berta")).access_token)
    (theirs,) = await sessions_of(admin)
    assert_error(await berta.get(f"/api/auth/sessions?user_id={theirs['user_id']}"), 404, "User not found")
    assert_error(await berta.delete(f"/api/auth/sessions/{theirs['id']}"), 404, "Session not found")
    assert len(await sessions_of(admin)) == 1


def change(current: str = PASSWORD, new: str = NEW_PASSWORD) -> dict[str, str]:
    return {"current_password": current, "new_password": new}


async def test_a_password_change_ends_the_other_sessions_and_all_refresh_tokens(
    start: NodeStarter, http: Http
) -> None:
    here, elsewhere = await start(), await start()
    own, other = await here.log_in(), await here.log_in()
    for node in (here, elsewhere):
        assert await works(node, other)
    api = http(here).with_token(own.access_token)
    answer = await api.put("/api/auth/password", change())
    assert (answer.status, answer.json["sessions_revoked"]) == (200, 1)
    assert (await works(here, own), await works(here, other)) == (True, False)
    assert not await refreshes(here, own)
    assert not await refreshes(here, other)
    elsewhere.clock.move(1)
    assert (await works(elsewhere, own), await works(elsewhere, other)) == (True, False)
    with pytest.raises(Unauthenticated):
        await here.log_in()
    later = await here.log_in(password=NEW_PASSWORD)
    assert [session["current"] for session in await sessions_of(api)] == [False, True]
    # The next change, from another session, ends the one that the first has kept.
    again = http(here).with_token(later.access_token)
    answer = await again.put("/api/auth/password", change(NEW_PASSWORD, PASSWORD))
    assert answer.json["sessions_revoked"] == 1
    assert (await works(here, own), await works(here, later)) == (False, True)


async def test_a_kept_session_does_not_outlive_a_reset(node: Node, client: ApiClient) -> None:
    carla = await node.installation.add("carla", "viewer")
    tokens = await node.log_in("carla")
    changed = await client.with_token(tokens.access_token).put("/api/auth/password", change())
    assert changed.status == 200
    admin = client.with_token((await node.log_in()).access_token)
    reset = await admin.put(f"/api/users/{carla.id}", {"password": "a third long password"})
    assert reset.status == 200
    assert not await works(node, tokens)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(change(new="short"), "new_password: at least 12", id="a short one"),
        pytest.param(change(new="password1234"), "new_password: is on the list", id="a common one"),
        pytest.param(change(new="p" * 257), "new_password: at most 256", id="one over 256 characters"),
        pytest.param({"new_password": NEW_PASSWORD}, "current_password: Missing", id="no current one"),
        pytest.param({"current_password": PASSWORD}, "new_password: Missing", id="no new one"),
        pytest.param({**change(), "current_password": {"$ne": 1}}, "current_password: Not", id="operator"),
        pytest.param({**change(), "new_password": {"$set": 1}}, "new_password: Not", id="operator again"),
        pytest.param({**change(), "user_id": "x"}, "user_id: Unknown field", id="another user's id"),
        pytest.param({**change(), "roles": ["admin"]}, "roles: Unknown field", id="roles"),
    ],
)
async def test_a_bad_change_is_a_400_and_not_counted(
    untouched: Node, http: Http, body: dict[str, Any], text: str
) -> None:
    api = http(untouched).with_token((await untouched.log_in()).access_token)
    assert_error(await api.put("/api/auth/password", body), 400, text)
    assert await untouched.documents("login_failures") == []


async def test_wrong_current_passwords_count_with_the_logins(node: Node, client: ApiClient) -> None:
    await node.installation.add("carla", "viewer")
    api = client.with_token((await node.log_in("carla")).access_token)
    for remaining in range(9, 0, -1):
        answer = await api.put("/api/auth/password", change(WRONG))
        assert_error(answer, 401, f"{remaining} attempts remaining.")
    wrong_login = {"username": "carla", "password": WRONG}
    assert_error(await client.post("/api/auth/login", wrong_login), 401, "0 attempts remaining.")
    refused = await api.put("/api/auth/password", change())
    assert_error(refused, 429, "Too many failed login attempts")
    assert refused.json["retry_after_secs"] == int(refused.headers["Retry-After"])
    actions = await node.actions()
    assert actions.count("auth.password_change_failed") == 9
    assert actions.count("auth.lockout") == 1
    assert (await api.get("/api/auth/me")).status == 200


async def test_an_account_of_another_provider_has_no_password_here(node: Node, client: ApiClient) -> None:
    new = NewUser(username="lara", roles=(), auth_provider="ldap", external_id="1")
    lara = await node.installation.users.create(await node.installation.system(), new)
    _, tokens = await node.logins.sessions.begin(
        lara, client_type="admin_ui", auth_provider="ldap", info=INFO
    )
    answer = await client.with_token(tokens.access_token).put("/api/auth/password", change())
    assert_error(answer, 400, "kept by ldap")


async def test_of_two_changes_at_once_one_holds(start: NodeStarter, http: Http) -> None:
    nodes = [await start(), await start()]
    tokens = [await nodes[0].log_in() for _ in range(2)]
    answers = await asyncio.gather(
        *(
            http(node).with_token(found.access_token).put("/api/auth/password", change(new=new))
            for node, found, new in zip(nodes, tokens, (NEW_PASSWORD, "a third long password"), strict=True)
        )
    )
    assert sorted(answer.status for answer in answers) == [200, 401]
    nodes[0].clock.move(1)
    assert sum([await works(nodes[0], found) for found in tokens]) == 1


async def test_a_reset_while_the_current_password_is_checked_wins(
    node: Node, client: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await node.installation.add("carla", "viewer")
    api = client.with_token((await node.log_in("carla")).access_token)
    system = await node.installation.system()
    real = UserService.check_password

    async def meanwhile_reset(self: UserService, *args: Any) -> bool:
        right = await real(self, *args)
        await node.installation.users.set_password(system, "carla", "a third long password")
        return right

    with monkeypatch.context() as patch:
        patch.setattr(UserService, "check_password", meanwhile_reset)
        assert_error(await api.put("/api/auth/password", change()), 401)
    with pytest.raises(Unauthenticated):
        await node.log_in("carla", NEW_PASSWORD)
    assert (await node.log_in("carla", "a third long password")).expires_in == 3600


async def test_a_login_with_the_old_password_during_the_change_is_dead_from_birth(
    node: Node, client: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = client.with_token((await node.log_in()).access_token)
    real = UserService.check_login

    async def meanwhile_changed(self: UserService, *args: Any) -> bool:
        right = await real(self, *args)
        monkeypatch.setattr(UserService, "check_login", real)
        assert (await api.put("/api/auth/password", change())).status == 200
        return right

    monkeypatch.setattr(UserService, "check_login", meanwhile_changed)
    request = LoginRequest(username="admin", password=PASSWORD)
    stale = await node.auth.login("local", request, INFO)
    assert not await works(node, stale)
    assert not await refreshes(node, stale)
