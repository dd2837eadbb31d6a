"""The login over HTTP: answers, refusals in the same words, lockout, logout, me, providers."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from netautod.identity.auth.service import AuthService
from netautod.identity.users.models import NewUser
from netautod.identity.users.passwords.hashing import PasswordHasher, Verdict
from netautod.identity.users.service import UserService
from tests.identity.auth.support import INFO, Node, NodeStarter
from tests.support.client import ApiClient, Response, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
WRONG = "wrong horse battery staple"


@pytest.fixture
async def client(node: Node, http: Http) -> ApiClient:
    return http(node)


async def log_in(client: ApiClient, password: str = PASSWORD, address: str = "", **more: Any) -> Response:
    headers = {"X-Forwarded-For": address} if address else {}
    body = {"username": "admin", "password": password, **more}
    return await client.post("/api/auth/login", body, headers=headers)


async def test_the_way_of_a_client(client: ApiClient) -> None:
    answer = await log_in(client, client_type="terminal")
    assert answer.status == 200
    assert set(answer.json) == {"access_token", "refresh_token", "token_type", "expires_in"}
    assert (answer.json["token_type"], answer.json["expires_in"]) == ("Bearer", 3600)
    with_token = client.with_token(answer.json["access_token"])
    me = await with_token.get("/api/auth/me")
    assert (me.json["username"], me.json["roles"], me.json["permissions"]) == ("admin", ["admin"], ["*"])
    assert "last_login_at" not in me.json
    users = (await with_token.get("/api/users")).json["users"]
    assert users[0]["last_login_at"] is not None
    managed = {"last_login_at", "ssh_principals", "group_warning"}
    assert {key: value for key, value in users[0].items() if key not in managed} == me.json
    out = await with_token.post("/api/auth/logout", raw=b"", headers={"Content-Type": "application/json"})
    assert out.json == {"message": "Logged out", "sessions_revoked": 1}
    assert_error(await with_token.get("/api/auth/me"), 401, "Invalid or expired token")
    assert_error(await with_token.post("/api/auth/logout"), 401, "Invalid or expired token")


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        pytest.param({"refresh_token": "x" * 43}, 200, "", id="the token of a client, whatever it is"),
        pytest.param({"refresh_token": None}, 200, "", id="null"),
        pytest.param({}, 200, "", id="nothing"),
        pytest.param({"refresh_token": 7}, 400, "refresh_token: Not a valid string", id="a number"),
        pytest.param({"all": True}, 400, "all: Unknown field", id="an unknown field"),
    ],
)
async def test_the_body_of_a_logout(
    client: ApiClient, body: dict[str, object], status: int, text: str
) -> None:
    with_token = client.with_token((await log_in(client)).json["access_token"])
    out = await with_token.post("/api/auth/logout", body)
    assert out.status == status
    assert text in out.json.get("error", "")
    assert (await with_token.get("/api/auth/me")).status == (401 if status == 200 else 200)


async def test_a_session_keeps_the_facts_of_its_login(node: Node, client: ApiClient) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9", "User-Agent": "curl/8"}
    body = {"username": "ADMIN ", "password": PASSWORD}
    assert (await client.post("/api/auth/login", body, headers=headers)).status == 200
    (row,) = await node.documents("sessions")
    facts = ("client_type", "auth_provider", "ip_address", "user_agent", "ended_at")
    assert [row[name] for name in facts] == ["admin_ui", "local", "203.0.113.9", "curl/8", None]


async def test_the_providers_are_always_three(client: ApiClient) -> None:
    assert (await client.get("/api/auth/providers")).json == {
        "providers": [
            {"name": "local", "enabled": True, "kinds": ["password"]},
            {"name": "ldap", "enabled": False, "kinds": ["password"]},
            {"name": "oidc", "enabled": False, "kinds": ["redirect"]},
        ]
    }


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"username": None}, "username: Missing", id="no username"),
        pytest.param({"password": None}, "password: Missing", id="no password"),
        pytest.param({"password": ""}, "password: ", id="empty password"),
        pytest.param({"username": {"$ne": ""}}, "username: Not a valid string", id="operator in username"),
        pytest.param({"password": {"$ne": ""}}, "password: Not a valid string", id="operator in password"),
        pytest.param({"username": ["admin"]}, "username: Not a valid string", id="username in a list"),
        pytest.param({"password": 5}, "password: Not a valid string", id="number as a password"),
        pytest.param({"username": "admin\x00"}, "username: NUL", id="NUL in the username"),
        pytest.param({"client_type": "browser"}, "client_type: Must be one of", id="unknown client type"),
        pytest.param({"client_type": {"$ne": 1}}, "client_type: Not a valid", id="operator in client_type"),
        pytest.param(
            {"public_key": "ssh-ed25519 AAAA"},
            "public_key: an OpenSSH public key",
            id="half a public key",
        ),
        pytest.param({"public_key": {"$ne": 1}}, "public_key: Not a valid string", id="operator in the key"),
        pytest.param({"roles": ["admin"]}, "roles: Unknown field", id="roles"),
        pytest.param({"org_id": "x"}, "org_id: Unknown field", id="organization"),
    ],
)
async def test_a_bad_login_body_is_a_400_and_not_counted(
    untouched: Node, http: Http, change: dict[str, Any], text: str
) -> None:
    body = {"username": "admin", "password": PASSWORD, **change}
    assert_error(await http(untouched).post("/api/auth/login", body), 400, text)
    assert await untouched.documents("login_failures") == []
    assert await untouched.documents("sessions") == []


async def prepare_refused_users(node: Node) -> None:
    installation = node.installation
    await installation.add("disabled", "viewer")
    await installation.users.disable(await installation.system(), "disabled")
    new = NewUser(username="lara", roles=(), auth_provider="ldap", external_id="1")
    await installation.users.create(await installation.system(), new)


@pytest.mark.parametrize(
    ("username", "password"),
    [
        pytest.param("admin", WRONG, id="wrong password"),
        pytest.param("admin", PASSWORD + "\u00e9" * 300, id="password over 256 characters"),
        pytest.param("admin", " ", id="blank password"),
        pytest.param("admin", PASSWORD + " ", id="one space more"),
        pytest.param("nobody", PASSWORD, id="unknown user"),
        pytest.param("no body \u00fc", PASSWORD, id="what cannot be a username"),
        pytest.param("disabled", PASSWORD, id="disabled user, right password"),
        pytest.param("lara", PASSWORD, id="user of another provider"),
    ],
)
async def test_refused_logins_look_alike_and_cost_one_hash(
    node: Node, client: ApiClient, monkeypatch: pytest.MonkeyPatch, username: str, password: str
) -> None:
    await prepare_refused_users(node)
    checked: list[str | None] = []
    real = PasswordHasher.verify

    async def counted(self: PasswordHasher, hashed: str | None, password: str) -> Verdict:
        checked.append(hashed)
        return await real(self, hashed, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    answer = await client.post("/api/auth/login", {"username": username, "password": password})
    assert (answer.status, answer.json) == (
        401,
        {"error": "Invalid username or password. 9 attempts remaining."},
    )
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert len(checked) == 1


async def test_the_tenth_failure_is_the_last_401(client: ApiClient) -> None:
    for remaining in range(9, -1, -1):
        answer = await log_in(client, WRONG)
        assert_error(answer, 401, f"Invalid username or password. {remaining} attempts remaining.")
    locked = await log_in(client)
    assert_error(locked, 429, "Too many failed login attempts. Please try again later.")
    assert locked.json["retry_after_secs"] == 900
    assert locked.headers["Retry-After"] == "900"
    assert (await log_in(client, address="203.0.113.9")).status == 200


async def test_only_the_address_that_the_proxy_saw_counts(client: ApiClient) -> None:
    for number in range(10):
        # The right-most hop is what our proxy wrote; what stands before it the client made up.
        await log_in(client, WRONG, address=f"10.0.0.{number}, 203.0.113.9")
    forged = {
        "X-Forwarded-For": "10.9.9.9, 203.0.113.9",
        "X-Real-Ip": "10.8.8.8",
        "Forwarded": "for=10.7.7.7",
    }
    body = {"username": "admin", "password": PASSWORD}
    assert_error(await client.post("/api/auth/login", body, headers=forged), 429)
    assert (await log_in(client, address="203.0.113.10")).status == 200


async def test_a_right_password_that_comes_in_with_a_flood_of_wrong_ones_is_refused(
    start: NodeStarter, http: Http
) -> None:
    clients = [http(await start()), http(await start())]
    passwords = [f"{WRONG} {number}" for number in range(30)] + [PASSWORD]
    answers = await asyncio.gather(
        *(log_in(clients[number % 2], password) for number, password in enumerate(passwords))
    )
    statuses = sorted(answer.status for answer in answers[:-1])
    # The right one may come in before the lockout; then it clears what the account failed until then.
    guesses = statuses.count(401)
    assert guesses == 10 or (answers[-1].status == 200 and 10 <= guesses < 20)
    assert statuses == [401] * guesses + [429] * (30 - guesses)
    assert (await log_in(clients[0])).status == 429


async def test_a_login_that_sees_the_lockout_begin_while_it_hashes_is_refused(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = UserService.check_login

    async def meanwhile_locked(self: UserService, *args: Any) -> bool:
        right = await real(self, *args)
        for _ in range(10):
            await node.lockout.failed(await node.lockout.admit(INFO.ip_address, "other"))
        return right

    monkeypatch.setattr(UserService, "check_login", meanwhile_locked)
    with pytest.raises(Exception, match="Too many failed login attempts"):
        await node.log_in()
    assert await node.documents("sessions") == []


async def test_a_password_reset_while_the_old_password_is_checked_leaves_a_dead_session(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = node.installation
    await installation.add("carla", "viewer")
    real = UserService.check_login

    async def meanwhile_reset(self: UserService, *args: Any) -> bool:
        right = await real(self, *args)
        await installation.users.set_password(await installation.system(), "carla", "another long password")
        return right

    with monkeypatch.context() as patch:
        patch.setattr(UserService, "check_login", meanwhile_reset)
        tokens = await node.log_in("carla")
    with pytest.raises(Exception, match="Invalid or expired token"):
        await node.authenticator.authenticate(tokens.access_token, INFO)
    with pytest.raises(Exception, match="Invalid or expired token"):
        await node.auth.refresh(tokens.refresh_token, INFO)


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("correct horse battery" + "!" * 43, id="64 characters"),
        pytest.param("correct horse battery" + "ab" * 117 + "!", id="256 characters"),
        pytest.param("p\u00e4ssw\u00f6rter sind l\u00e4nger \U0001f511", id="not ASCII"),
    ],
)
async def test_long_and_foreign_passwords_count_whole(node: Node, password: str) -> None:
    await node.installation.add("carla", "viewer", password=password)
    assert (await node.log_in("carla", password)).expires_in == 3600
    with pytest.raises(Exception, match="Invalid username"):
        await node.log_in("carla", password[:-1])


async def test_an_unset_provider_is_a_400(node: Node) -> None:
    auth: AuthService = node.auth
    for name, title in (("ldap", "LDAP"), ("oidc", "OIDC")):
        with pytest.raises(Exception, match=f"{title} login is not enabled"):
            auth.providers.get(name)


async def test_every_route_that_is_not_public_requires_a_token(client: ApiClient) -> None:
    for method, path in (("GET", "/api/auth/me"), ("POST", "/api/auth/logout"), ("GET", "/api/users")):
        assert_error(await client.request(method, path), 401, "Authentication required")
